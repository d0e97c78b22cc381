import { describe, expect, it, jest } from '@jest/globals'
import { type Config, ConfigError, makeConfigSource } from '../../../src/config/index.ts'
import { testLoadedConfig } from '../../support/config.ts'

function make(overrides = {}) {
  const loaded = testLoadedConfig(overrides)
  return { loaded, source: makeConfigSource(loaded) }
}

describe('runtime overrides', () => {
  it('start from the loaded configuration', () => {
    const { loaded, source } = make()
    expect(source.current()).toBe(loaded.config)
  })

  it('change editable keys and nothing else', () => {
    const { loaded, source } = make({ instance: { terms: 'Be kind.' }, transcoding: { threads: 2 } })
    const config = source.override({
      instance: { name: 'New' },
      transcoding: { threads: 4, resolutions: { '2160p': true } },
      user: { video_quota: '2GB' },
    })
    expect(source.current()).toBe(config)
    expect(config.instance).toEqual({ ...loaded.config.instance, name: 'New' })
    expect(config.transcoding).toMatchObject({ threads: 4, resolutions: { '2160p': true, '1080p': true } })
    expect(config.user.video_quota).toBe(2 * 2 ** 30)
    expect(config.webserver).toEqual(loaded.config.webserver)
    expect(config.storage).toEqual(loaded.config.storage)
    expect(Object.isFrozen(config.transcoding.resolutions)).toBe(true)
    expect(loaded.config.instance.name).toBe('Vireo')
  })

  it('change the keys derived from them', () => {
    const { source } = make()
    const config = source.override({ transcoding: { concurrency: 3 }, import: { videos: { concurrency: 2 } } })
    expect(config.vireo.jobs.types['video-transcoding'].concurrency).toBe(3)
    expect(config.vireo.jobs.types['video-import'].concurrency).toBe(2)
  })

  it('replace earlier ones, and an empty one resets them', () => {
    const { loaded, source } = make()
    source.override({ signup: { enabled: true } })
    expect(source.override({ instance: { name: 'New' } }).signup.enabled).toBe(false)
    expect(source.override({})).toEqual(loaded.config)
  })

  it.each([
    [{ listen: { port: 1 } }, 'listen.port cannot be changed while the server runs'],
    [{ vireo: { federation: { allow_http: true } } }, 'vireo.federation.allow_http cannot be changed'],
    [{ import: { videos: { http: { proxies: ['x'] } } } }, 'import.videos.http.proxies cannot be changed'],
    [{ instance: { nam: 'x' } }, 'unknown key instance.nam, did you mean instance.name?'],
    [{ transcoding: { threads: 'many' } }, 'transcoding.threads is "many" (runtime configuration), expected a whole number'],
    [{ transcoding: 'off' }, 'transcoding is "off" (runtime configuration), expected a section with keys'],
    [{ transcoding: { hls: { enabled: false } } }, 'expected transcoding.hls.enabled or transcoding.web_videos.enabled too'],
    [null, 'expected sections with keys'],
    [[], 'expected sections with keys'],
    ['x', 'expected sections with keys'],
  ])('refuse %j and change nothing', (patch, message) => {
    const { source } = make()
    const before = source.override({ instance: { name: 'Before' } })
    const listener = jest.fn()
    source.onChange(listener)
    expect(() => source.override(patch)).toThrow(ConfigError)
    expect(() => source.override(patch)).toThrow(message)
    expect(source.current()).toBe(before)
    expect(listener).not.toHaveBeenCalled()
  })

  it('notify listeners, until they unsubscribe', () => {
    const { loaded, source } = make()
    const names: [string, string][] = []
    const stop = source.onChange((config: Config, previous: Config) => {
      expect(source.current()).toBe(config)
      names.push([config.instance.name, previous.instance.name])
    })
    source.override({ instance: { name: 'One' } })
    source.override({ instance: { name: 'Two' } })
    stop()
    source.override({})
    expect(names).toEqual([
      ['One', loaded.config.instance.name],
      ['Two', 'One'],
    ])
  })

  it('of one server do not affect another', () => {
    const [a, b] = [make().source, make().source]
    a.override({ instance: { name: 'A' } })
    expect(b.current().instance.name).toBe('Vireo')
  })
})
