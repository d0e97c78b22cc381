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

describe('field names of the runtime configuration', () => {
  it.each([
    ['defaultNSFWPolicy', 'default_nsfw_policy'],
    ['isNSFW', 'is_nsfw'],
    ['0p', '0p'],
    ['1080p', '1080p'],
    ['splitAudioAndVideo', 'split_audio_and_video'],
    ['url', 'url'],
  ])('%s is the key %s', (field, key) => expect(snakeCased(field)).toBe(key))

  it('in the body are those of all keys editable at runtime, and no others', () => {
    // External logins and the mail server have routes of their own.
    const editable = keys.filter(({ info, path }) => info.editable && !/^(vireo\.auth|smtp)\./.test(path)).map(({ path }) => path)
    expect(keyNames(fieldsOf(bodySchema))).toEqual(editable.sort())
  })

  it('all have an explanation', () => {
    expect(describeFields(() => false).filter(({ about }) => about === '')).toEqual([])
  })

  it('in the view can all be sent back', () => {
    const sendable = new Set(fieldsOf(bodySchema).map((path) => path.join('.')))
    expect(fieldsOf(customView).filter((path) => !sendable.has(path.join('.')))).toEqual([])
  })
})

describe('the runtime configuration', () => {
  const make = (values = {}) => {
    const loaded = testLoadedConfig(values)
    return { loaded: loaded.config, source: makeConfigSource(loaded) }
  }

  it('is unchanged when it is sent back', () => {
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

  it('has a visible name, or none', () => {
    const { loaded } = make()
    const { instance, ...view } = toCustomView(loaded)
    const isTaken = (name: string) => bodySchema.safeParse({ ...view, instance: { ...instance, name } }).success
    expect(['Ours', ''].filter(isTaken)).toEqual(['Ours', ''])
    expect(['\u200b', '\u2800\u3164', ' '].filter(isTaken)).toEqual([])
  })

  it('has each value of the body', () => {
    const { loaded, source } = make()
    const view = toCustomView(loaded)
    const off = { enabled: false }
    // Features that do not exist stay off.
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

  it('accepts a number for a route, a single algorithm instead of a list, and maps an unknown level to the mildest', () => {
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

  it('resets to the files where the body has null, and is unchanged for missing fields', () => {
    const { loaded } = make()
    const view = toCustomView(loaded)
    const { client: _client, storyboards: _storyboards, ...rest } = view
    const body = bodySchema.parse({ ...rest, live: { ...view.live, maxUserLives: null } })
    const before = { live: { max_user_lives: 7, max_instance_lives: 20 }, storyboards: { enabled: false } }
    expect(overridesAfter(before, toChanges(body), loaded)).toEqual({ storyboards: { enabled: false } })
  })

  it('finds the keys in which two states differ', () => {
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

/** The same fields, each with another value of its type. */
function everyValueChanged(view: object): object {
  return nested(changesOf({ ...view }).map(({ path, value }) => ({ path, value: other(path.at(-1) ?? '', value) })))
}

function other(name: string, value: unknown): unknown {
  if (name === 'defaultNSFWPolicy') return 'blur'
  if (name === 'level') return 'error'
  if (name === 'profile') return value
  if (name === 'url' || name === 'indexUrl') return 'https://index.example/'
  // At least one transcoding format must be enabled.
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return value + 3
  if (name === 'categories') return [7]
  return Array.isArray(value) ? ['other'] : `${String(value)} changed`
}
