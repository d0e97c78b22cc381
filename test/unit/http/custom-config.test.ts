import { describe, expect, it } from '@jest/globals'
import { changesOf, nested, valueAt } from '../../../src/actors/runtime-config/index.ts'
import { changedKeys, overridesAfter } from '../../../src/actors/runtime-config/overrides.ts'
import { makeConfigSource } from '../../../src/config/index.ts'
import { merge } from '../../../src/config/layers.ts'
import { keys } from '../../../src/config/tree.ts'
import { describeFields, fieldsOf, snakeCased, toChanges, toCustomView } from '../../../src/http/config/custom-keys.ts'
import { customBody, customView } from '../../../src/http/config/custom-schemas.ts'
import { testLoadedConfig } from '../../support/config.ts'

const bodySchema = customBody((name) => name === 'default')
const keyNames = (fields: string[][]) => fields.map((path) => path.map(snakeCased).join('.')).sort()

describe('the names of the runtime configuration', () => {
  it.each([
    ['defaultNSFWPolicy', 'default_nsfw_policy'],
    ['isNSFW', 'is_nsfw'],
    ['0p', '0p'],
    ['1080p', '1080p'],
    ['splitAudioAndVideo', 'split_audio_and_video'],
    ['url', 'url'],
  ])('%s is the key %s', (field, key) => expect(snakeCased(field)).toBe(key))

  it('of the body are those of all keys that can be changed while the server runs, and no others', () => {
    // Those of logins have a route of their own.
    const editable = keys.filter(({ info, path }) => info.editable && !path.startsWith('vireo.auth.')).map(({ path }) => path)
    expect(keyNames(fieldsOf(bodySchema))).toEqual(editable.sort())
  })

  it('are each explained', () => {
    expect(describeFields(() => false).filter(({ about }) => about === '')).toEqual([])
  })

  it('of the view can all be sent back', () => {
    const sendable = new Set(fieldsOf(bodySchema).map((path) => path.join('.')))
    expect(fieldsOf(customView).filter((path) => !sendable.has(path.join('.')))).toEqual([])
  })
})

describe('the runtime configuration', () => {
  const make = (values = {}) => {
    const loaded = testLoadedConfig(values)
    return { loaded: loaded.config, source: makeConfigSource(loaded) }
  }

  it('sent back as it came changes nothing', () => {
    const { loaded, source } = make({
      instance: { name: 'Ours', languages: ['en', 'fr'], categories: [1, 2], is_nsfw: true },
      user: { video_quota: '10GB' },
      live: { max_duration: '5 hours' },
      export: { users: { export_expiration: '3 days' } },
    })
    const view = toCustomView(loaded)
    expect(overridesAfter({}, toChanges(bodySchema.parse(view)), loaded)).toEqual({})
    expect(toCustomView(source.override(nested(toChanges(bodySchema.parse(view)))))).toEqual(view)
  })

  it('has a name that shows something, or none', () => {
    const { loaded } = make()
    const { instance, ...view } = toCustomView(loaded)
    const isTaken = (name: string) => bodySchema.safeParse({ ...view, instance: { ...instance, name } }).success
    expect(['Ours', ''].filter(isTaken)).toEqual(['Ours', ''])
    expect(['\u200b', '\u2800\u3164', ' '].filter(isTaken)).toEqual([])
  })

  it('has each value that a body gives it', () => {
    const { loaded, source } = make()
    const view = toCustomView(loaded)
    const off = { enabled: false }
    // What is not built stays off.
    const unbuilt = {
      live: { ...off, transcoding: { remoteRunners: off } },
      transcoding: { remoteRunners: off },
      videoStudio: { remoteRunners: off },
      videoTranscription: { ...off, remoteRunners: off },
    }
    const changed = bodySchema.parse({
      ...merge({ ...everyValueChanged(view) }, unbuilt),
      theme: view.theme,
      admin: { email: 'a@b.example' },
    })
    const overrides = overridesAfter({}, toChanges(changed), loaded)
    const config = source.override(overrides)
    for (const { path, value } of toChanges(changed)) expect([path, valueAt(config, path)]).toEqual([path, value])
    expect(toCustomView(config)).toEqual(changed)
  })

  it('takes a number for a route, one algorithm for a list, and an unknown level for the mildest', () => {
    const { loaded } = make()
    const view = toCustomView(loaded)
    view.instance.defaultClientRoute = 5
    view.trending.videos.algorithms.enabled = 'hot'
    const body = bodySchema.parse({ ...view, broadcastMessage: { ...view.broadcastMessage, level: 'x' } })
    expect(overridesAfter({}, toChanges(body), loaded)).toEqual({
      instance: { default_client_route: '5' },
      trending: { videos: { algorithms: { enabled: ['hot'] } } },
    })
  })

  it('goes back to the files where a body says null, and stays where it says nothing', () => {
    const { loaded } = make()
    const view = toCustomView(loaded)
    const { client: _client, storyboards: _storyboards, ...rest } = view
    const body = bodySchema.parse({ ...rest, live: { ...view.live, maxUserLives: null } })
    const before = { live: { max_user_lives: 7, max_instance_lives: 20 }, storyboards: { enabled: false } }
    expect(overridesAfter(before, toChanges(body), loaded)).toEqual({ storyboards: { enabled: false } })
  })

  it('knows which keys two states say differently', () => {
    const before = { instance: { name: 'One', languages: ['en'] }, theme: { default: 'x' } }
    const after = { instance: { name: 'Two', languages: ['en'] }, live: { enabled: true } }
    expect(changedKeys(before, after)).toEqual(['instance.name', 'live.enabled', 'theme.default'])
  })

  it('accepts no value that the configuration itself refuses', () => {
    const { loaded, source } = make()
    const view = toCustomView(loaded)
    for (const { path, value } of changesOf(view)) {
      for (const extreme of extremesOf(value)) {
        const body = bodySchema.safeParse(merged(view, path, extreme))
        if (!body.success) continue
        const changes = toChanges(body.data).filter((change) => change.value !== null)
        try {
          source.check(nested(changes))
        } catch (error) {
          expect(String(error)).toContain('transcoding.hls.enabled')
        }
      }
    }
  })
})

function extremesOf(value: unknown): unknown[] {
  if (typeof value === 'number') return [-2, -1, 0, 1, 0.5, Number.MAX_SAFE_INTEGER]
  return typeof value === 'boolean' ? [true, false] : ['', 'x']
}

const merged = (view: object, path: readonly string[], value: unknown) =>
  nested(changesOf({ ...view }).map((change) => (change.path.join() === path.join() ? { path, value } : change)))

/** The same fields, each with another value of its kind. */
function everyValueChanged(view: object): object {
  return nested(changesOf({ ...view }).map(({ path, value }) => ({ path, value: other(path.at(-1) ?? '', value) })))
}

function other(name: string, value: unknown): unknown {
  if (name === 'defaultNSFWPolicy') return 'blur'
  if (name === 'level') return 'error'
  if (name === 'profile') return value
  if (name === 'url' || name === 'indexUrl') return 'https://index.example/'
  // Both formats of transcoding cannot be off.
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return value + 3
  if (name === 'categories') return [7]
  return Array.isArray(value) ? ['other'] : `${String(value)} changed`
}
