import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from '@jest/globals'
import { ConfigError, loadConfig } from '../../../src/config/index.ts'
import { testConfig } from '../../support/config.ts'

const folder = mkdtempSync(join(tmpdir(), 'vireo-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

const PEERTUBE_FILE = fileURLToPath(new URL('../../fixtures/config/production.yaml', import.meta.url))
const EXAMPLE_FILE = fileURLToPath(new URL('../../../deploy/production.example.yaml', import.meta.url))

let files = 0
function file(yaml: string): string {
  files += 1
  const path = join(folder, `${files}.yaml`)
  writeFileSync(path, yaml)
  return path
}

function load(yaml: string[] = [], env: Record<string, string> = {}) {
  return loadConfig({ files: yaml.map(file), env, cwd: folder })
}

function problemsOf(action: () => unknown): string[] {
  try {
    action()
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n')
    throw error
  }
  throw new Error('nothing was wrong')
}

describe('without any configuration', () => {
  it('uses an embedded database, no Redis, and a public address on localhost', () => {
    const { database, redis, publicUrl, dataDir, warnings, sources } = load()
    expect({ database, redis, publicUrl, dataDir, warnings, sources }).toEqual({
      database: { kind: 'embedded', poolMax: 20 },
      redis: null,
      publicUrl: 'http://localhost:9000',
      dataDir: join(folder, 'data'),
      warnings: [],
      sources: ['built-in defaults'],
    })
  })

  it('transcodes to the default resolutions as HLS', () => {
    const { transcoding } = load().config
    expect(transcoding.enabled).toBe(true)
    expect(transcoding.hls.enabled).toBe(true)
    expect(transcoding.web_videos.enabled).toBe(false)
    expect(transcoding.resolutions).toEqual({
      '0p': false,
      '144p': true,
      '240p': true,
      '360p': true,
      '480p': true,
      '720p': true,
      '1080p': true,
      '1440p': false,
      '2160p': false,
    })
  })

  it('uses the resolutions of a file if there is one', () => {
    const { resolutions } = load(['transcoding: { resolutions: { 720p: true } }']).config.transcoding
    expect(Object.entries(resolutions).filter(([, on]) => on)).toEqual([['720p', true]])
  })

  it('keeps files below the data directory', () => {
    const { config, dataDir } = load([], { VIREO_DATA_DIR: 'elsewhere' })
    expect(dataDir).toBe(join(folder, 'elsewhere'))
    expect(config.storage.web_videos).toBe(join(folder, 'elsewhere/storage/web-videos'))
  })

  it('refuses plain http and private addresses', () => {
    const { federation } = load().config.vireo
    expect(federation).toMatchObject({ allow_http: false, allow_private_addresses: false })
  })
})

describe("a PeerTube server's production.yaml", () => {
  const loaded = loadConfig({ files: [PEERTUBE_FILE], env: { VIREO_DATA_DIR: '/data' }, cwd: folder })
  const { config } = loaded

  it('is accepted without a warning', () => {
    expect(loaded.warnings).toEqual([])
    expect(loaded.sources).toEqual([PEERTUBE_FILE])
  })

  it('provides its servers and its public address', () => {
    expect(loaded.database).toEqual({
      kind: 'server',
      url: 'postgres://peertube:p%40ss%3Aword%2F%231@postgres:5432/peertube_prod',
      poolMax: 12,
      ssl: false,
      verifyCertificate: false,
    })
    expect(loaded.redis).toEqual({ kind: 'url', url: 'redis://redis:6379/2' })
    expect(loaded.publicUrl).toBe('https://video.example')
  })

  it('converts durations to milliseconds and sizes to bytes', () => {
    expect(config.rates_limit.receive_client_log).toEqual({ max: 10, window: 600_000 })
    expect(config.oauth2.token_lifetime).toEqual({ access_token: 86_400_000, refresh_token: 1_209_600_000 })
    expect(config.history.videos.max_age).toBe(180 * 86_400_000)
    expect(config.views.videos.remote.max_age).toBe(-1)
    expect(config.views.videos.watching_interval).toEqual({ anonymous: null, users: 5000 })
    expect(config.live.max_duration).toBe(18_000_000)
    expect(config.user).toMatchObject({ video_quota: 5 * 2 ** 30, video_quota_daily: -1 })
    expect(config.object_storage.max_upload_part).toBe(100 * 2 ** 20)
    expect(config.client.videos.resumable_upload.max_chunk_size).toBe(90 * 2 ** 20)
    expect(config.redundancy.videos.strategies).toEqual([
      { strategy: 'trending', size: 10 * 2 ** 30, min_lifetime: 172_800_000 },
      { strategy: 'recently-added', size: 2 ** 30, min_lifetime: 172_800_000, min_views: 10 },
    ])
  })

  it('keeps a null that has a meaning, and uses the default for any other', () => {
    expect(config.object_storage.upload_acl).toEqual({ public: null, private: 'private' })
    expect(config.csp.report_uri).toBeNull()
    expect(config.instance.languages).toEqual([])
    expect(config.instance.categories).toEqual([1, 15])
    expect(load(['transcoding:\nlisten: { port: null }']).config.listen.port).toBe(9000)
  })

  it('keeps absolute folders, and resolves relative ones against the data directory', () => {
    expect(config.storage.tmp).toBe('/var/www/peertube/storage/tmp')
    expect(config.storage.captions).toBe('/data/storage/captions')
  })

  it('accepts alternative spellings', () => {
    expect(config.log.level).toBe('warn')
    const old = load(['transcoding: { webtorrent: { enabled: true } }\nstorage: { videos: /v }'])
    expect(old.config.transcoding.web_videos.enabled).toBe(true)
    expect(old.config.storage.web_videos).toBe('/v')
    expect(old.warnings).toEqual([
      expect.stringContaining('the key storage.videos is called storage.web_videos now'),
      expect.stringContaining('the key transcoding.webtorrent is called transcoding.web_videos now'),
    ])
  })

  it('prefers the new name to the old one', () => {
    const { config: both } = load(['storage: { videos: /old, web_videos: /new }'])
    expect(both.storage.web_videos).toBe('/new')
  })

  it('reports that keys of other releases have no effect', () => {
    expect(load(['nsfw_flags_settings: { enabled: true }']).warnings).toEqual([
      expect.stringMatching(/1?\d+\.yaml: the key nsfw_flags_settings has no effect here$/),
    ])
  })

  it.each(['captions', 'original_video_files', 'user_exports'])('warns about a base_url of %s', (kind) => {
    expect(load([`object_storage: { ${kind}: { base_url: 'https://cdn.example' } }`]).warnings).toEqual([
      expect.stringContaining(`the key object_storage.${kind}.base_url has no effect here`),
    ])
    expect(load([`object_storage: { ${kind}: { base_url: '' } }`]).warnings).toEqual([])
  })

  it('warns that prevent_ssrf no longer allows private addresses', () => {
    expect(load(['federation: { prevent_ssrf: false }']).warnings).toEqual([
      expect.stringContaining('vireo.federation.allow_private_addresses'),
    ])
  })
})

it('the production example loads without a warning', () => {
  const loaded = loadConfig({ files: [EXAMPLE_FILE], env: {}, cwd: folder })
  expect(loaded.warnings).toEqual([])
  expect(loaded.publicUrl).toBe('https://video.example')
})

describe('several files', () => {
  it('are merged by key, the later one wins, and lists are replaced as a whole', () => {
    const { config } = load([
      'transcoding: { threads: 2, concurrency: 3 }\ntrust_proxy: [a, b]',
      'transcoding: { threads: 4 }\ntrust_proxy: [c]',
    ])
    expect(config.transcoding).toMatchObject({ threads: 4, concurrency: 3 })
    expect(config.trust_proxy).toEqual(['c'])
  })

  it('are read from VIREO_CONFIG, then from the command line, and the environment overrides them', () => {
    const [first, second] = [file('transcoding: { threads: 2, concurrency: 2 }'), file('listen: { port: 9002 }')]
    const last = file('transcoding: { threads: 3 }\nlisten: { port: 9003 }')
    const loaded = loadConfig({
      files: [last],
      env: { VIREO_CONFIG: `${first}:${second}`, VIREO__LISTEN__PORT: '9004' },
      cwd: folder,
    })
    expect(loaded.config.transcoding).toMatchObject({ threads: 3, concurrency: 2 })
    expect(loaded.config.listen.port).toBe(9004)
    expect(loaded.sources).toEqual([first, second, last, 'VIREO__LISTEN__PORT'])
  })

  it('may be empty, and may use anchors and merge keys', () => {
    const { config } = load(['', 'rates_limit:\n  api: &few { max: 7 }\n  login: { <<: *few, window: 1 minute }'])
    expect(config.rates_limit.login).toEqual({ max: 7, window: 60_000 })
  })
})

describe('an unusable file', () => {
  it('is named when it is missing', () => {
    const missing = join(folder, 'missing.yaml')
    expect(problemsOf(() => loadConfig({ files: ['missing.yaml'], env: {}, cwd: folder }))).toEqual([
      `The configuration file ${missing} cannot be read: there is no such file`,
    ])
  })

  it('is named when it is a directory', () => {
    expect(problemsOf(() => loadConfig({ files: [folder], env: {}, cwd: folder }))).toEqual([
      `The configuration file ${folder} cannot be read: it is a directory`,
    ])
  })

  it.each([
    ['listen:\n  port: [1,', /^\S+\.yaml:\d+:\d+: this is not YAML: .+$/],
    ['listen: { port: 1 }\nlisten: { port: 2 }', /^\S+\.yaml:2:1: this is not YAML: .+$/],
    ['listen: *nowhere', /^\S+\.yaml(:\d+:\d+)?: this is not YAML: .+$/],
    ['- a\n- b', /^\S+\.yaml:1:1: expected sections with keys, such as "listen:"$/],
    ['just words', /^\S+\.yaml:1:1: expected sections with keys, such as "listen:"$/],
  ])('is named with the position: %j', (yaml, line) => {
    const problems = problemsOf(() => load([yaml]))
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(line)
  })

  it('cannot exhaust memory by nested aliases', () => {
    const levels = Array.from({ length: 12 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i},`.repeat(10)}]`)
    const problems = problemsOf(() => load([`l0: &l0 [x]\n${levels.join('\n')}`]))
    expect(problems).toEqual([expect.stringMatching(/^\S+\.yaml: this is not YAML: .+$/)])
  })

  it('cannot change the prototype of objects', () => {
    const { warnings } = load(['__proto__: { polluted: true }\nlisten: { __proto__: { port: 1 } }'])
    expect(warnings).toHaveLength(2)
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })
})

describe('an invalid value', () => {
  it.each([
    ['transcoding: { threads: many }', 'transcoding.threads is "many"', 'a whole number from 0 on'],
    ['transcoding: { threads: 1.5 }', 'transcoding.threads is 1.5', 'a whole number from 0 on'],
    ['listen: { port: 70000 }', 'listen.port is 70000', 'a whole number from 0 to 65535'],
    ['transcoding: { enabled: 1 }', 'transcoding.enabled is 1', 'true or false'],
    ['log: { level: loud }', 'log.level is "loud"', 'one of debug, info, warn, error, silent'],
    ['instance: { name: [a] }', 'instance.name is ["a"]', 'a text'],
    ['import: { videos: { timeout: soon } }', 'import.videos.timeout is "soon"', 'a duration such as'],
    ['export: { users: { max_user_video_quota: -1 } }', 'export.users.max_user_video_quota is -1', 'a size such as'],
    ['live: { max_duration: -2 }', 'live.max_duration is -2', 'or -1 for no limit'],
    ['trust_proxy: { a: b }', 'trust_proxy is {"a":"b"}', 'a list of texts'],
    ['instance: { categories: [music] }', 'instance.categories is ["music"]', 'a list of whole numbers'],
    [
      'redundancy: { videos: { strategies: [{ strategy: all, size: 1GB, min_lifetime: 2 days }] } }',
      'redundancy.videos.strategies is [',
      'a list of { strategy: most-views | trending | recently-added',
    ],
    ['vireo: { jobs: { types: { email: { attempts: 0 } } } }', 'vireo.jobs.types.email.attempts is 0', 'a whole number from 1 on'],
    ['transcoding: true', 'transcoding is true', 'a section with keys'],
    ['webserver: { hostname: https://video.example }', 'webserver.hostname is "https://video.example"', 'a host name'],
  ])('stops the start: %s', (yaml, found, expectation) => {
    const problems = problemsOf(() => load([yaml]))
    expect(problems).toHaveLength(1)
    expect(problems[0]?.startsWith(found)).toBe(true)
    expect(problems[0]).toContain(`expected ${expectation}`.replace('expected or -1', 'or -1'))
  })

  it('is reported with its file or variable', () => {
    const path = file('transcoding: { threads: many }')
    expect(problemsOf(() => loadConfig({ files: [path], env: { VIREO__LOG__LEVEL: 'loud' }, cwd: folder }))).toEqual([
      expect.stringContaining('(VIREO__LOG__LEVEL)'),
      expect.stringContaining(`(${path})`),
    ])
  })

  it('is reported with one line for each problem', () => {
    expect(problemsOf(() => load(['transcoding: { threads: x, concurrency: y }\nlisten: 3']))).toHaveLength(3)
  })

  it('is not shown when it is a secret', () => {
    const [problem] = problemsOf(() => load(['smtp: { password: [hunter2] }']))
    expect(problem).toMatch(/^smtp\.password is \(hidden\) \(.*\), expected a text or null$/)
    const [url] = problemsOf(() => load(['database: postgres://me:hunter2@host/db']))
    expect(url).not.toContain('hunter2')
    const provider = '{ name: a, url: ldap://x, search_base: b, bind_password: hunter2, unknown: 1 }'
    expect(problemsOf(() => load([`vireo: { auth: { ldap: [${provider}] } }`]))).toEqual([expect.not.stringContaining('hunter2')])
  })

  it.each([
    ['transcoding: { hls: { enabled: false } }', 'transcoding.hls.enabled'],
    ['live: { enabled: true, rtmps: { enabled: true } }', 'live.rtmps.key_file'],
    ['vireo: { pagination: { default_count: 200 } }', 'vireo.pagination.max_count'],
    [
      'redundancy: { videos: { strategies: [{ strategy: trending, size: 1GB, min_lifetime: 1 day }, { strategy: trending, size: 2GB, min_lifetime: 1 day }] } }',
      'redundancy.videos.strategies',
    ],
    ['redis: { sentinel: { enabled: true } }', 'redis.sentinel.master_name'],
    [
      'vireo: { auth: { ldap: [{ name: a, url: ldap://x, search_base: b }, { name: a, url: ldap://y, search_base: b }] } }',
      'vireo.auth.ldap has a name twice',
    ],
  ])('may be a contradiction of another one: %s', (yaml, named) => {
    const problems = problemsOf(() => load([yaml]))
    expect(problems).toEqual([expect.stringContaining(named)])
  })
})

describe('an unknown key', () => {
  it.each([
    ['transcoding: { thread: 2 }', 'transcoding.thread', 'transcoding.threads'],
    ['transcodng: { threads: 2 }', 'transcodng', 'transcoding'],
    ['listen: { prot: 1 }', 'listen.prot', 'listen.port'],
    ['instance: { trust_proxy_x: 1 }', 'instance.trust_proxy_x', undefined],
    ['vireo: { federation: { allow_htp: true } }', 'vireo.federation.allow_htp', 'vireo.federation.allow_http'],
    ['live: { full_sync_videos_limit: 1 }', 'live.full_sync_videos_limit', 'import.video_channel_synchronization.full_sync_videos_limit'],
    ['zzzzzz: 1', 'zzzzzz', undefined],
  ])('is a warning with the nearest known key: %s', (yaml, unknown, meant) => {
    const { warnings } = load([yaml])
    const suffix = meant === undefined ? '' : `, did you mean ${meant}?`
    expect(warnings).toEqual([expect.stringMatching(new RegExp(`^\\S+\\.yaml: unknown key ${literally(unknown + suffix)}$`))])
  })
})

describe('the environment', () => {
  it.each([
    ['VIREO__TRANSCODING__THREADS', '4', { transcoding: { threads: 4 } }],
    ['vireo__transcoding__threads', '4', { transcoding: { threads: 4 } }],
    ['VIREO__TRANSCODING__RESOLUTIONS__1080P', 'false', { transcoding: { resolutions: { '1080p': false } } }],
    ['VIREO__TRANSCODING', '{ threads: 4, hls: { enabled: true } }', { transcoding: { threads: 4 } }],
    ['VIREO__TRUST_PROXY', '[loopback, 10.0.0.0/8]', { trust_proxy: ['loopback', '10.0.0.0/8'] }],
    ['VIREO__TRUST_PROXY', 'loopback', { trust_proxy: ['loopback'] }],
    ['VIREO__OAUTH2__TOKEN_LIFETIME__ACCESS_TOKEN', '2 seconds', { oauth2: { token_lifetime: { access_token: 2000 } } }],
    ['VIREO__USER__VIDEO_QUOTA', '1GB', { user: { video_quota: 2 ** 30 } }],
    ['VIREO__VIEWS__VIDEOS__WATCHING_INTERVAL__USERS', 'null', { views: { videos: { watching_interval: { users: null } } } }],
    ['VIREO__DATABASE__PASSWORD', '#1: [x', { database: { password: '#1: [x' } }],
    ['VIREO__DATABASE__PASSWORD', '0123', { database: { password: '0123' } }],
    ['VIREO__INSTANCE__NAME', '"quoted"', { instance: { name: 'quoted' } }],
    ['VIREO__INSTANCE__NAME', '"a" and "b"', { instance: { name: '"a" and "b"' } }],
    ['VIREO__INSTANCE__NAME', '', { instance: { name: '' } }],
    ['VIREO__SMTP__HOSTNAME', '', { smtp: { hostname: null } }],
    ['VIREO__LISTEN__PORT', '', { listen: { port: 9000 } }],
    [
      'VIREO__VIREO__JOBS__TYPES__VIDEO_TRANSCODING__TTL',
      '1 hour',
      { vireo: { jobs: { types: { 'video-transcoding': { ttl: 3_600_000 } } } } },
    ],
  ])('%s=%s', (name, value, expected) => {
    const { config, warnings } = load([], { [name]: value })
    expect(config).toMatchObject(expected)
    expect(warnings).toEqual([])
  })

  it('sets keys after sections, in any order', () => {
    const { config } = load([], {
      VIREO__TRANSCODING__THREADS: '5',
      VIREO__TRANSCODING: '{ threads: 4, concurrency: 2 }',
    })
    expect(config.transcoding).toMatchObject({ threads: 5, concurrency: 2 })
  })

  it('is ignored for variables of other programs', () => {
    expect(load([], { PATH: '/bin', VIREO: '1', VIREO_X: '2', HOME: '/' }).warnings).toEqual([])
  })

  it('warns about unknown variables with the nearest known one', () => {
    expect(load([], { VIREO__TRANSKODING__THREADS: '1', VIREO__TRANSCODING__THREADS__X: '1' }).warnings).toEqual([
      'environment: unknown variable VIREO__TRANSKODING__THREADS, did you mean VIREO__TRANSCODING__THREADS?',
      'environment: unknown variable VIREO__TRANSCODING__THREADS__X, did you mean VIREO__TRANSCODING__THREADS?',
    ])
  })

  it('warns about unknown keys inside a section', () => {
    expect(load([], { VIREO__LISTEN: '{ prot: 1 }' }).warnings).toEqual([
      'VIREO__LISTEN: unknown key listen.prot, did you mean listen.port?',
    ])
  })

  it('names a variable with invalid YAML, without its value', () => {
    const [problem] = problemsOf(() => load([], { VIREO__DATABASE: '{ password: hunter2' }))
    expect(problem).toMatch(/^database \(VIREO__DATABASE\) is not YAML: /)
    expect(problem).not.toContain('hunter2')
  })
})

describe('the public address', () => {
  it.each([
    ['listen: { port: 9100 }', 'http://localhost:9100'],
    ['listen: { hostname: 0.0.0.0, port: 80 }', 'http://localhost'],
    ['listen: { hostname: 192.168.1.5 }', 'http://192.168.1.5:9000'],
    ['listen: { hostname: "fd00::5" }', 'http://[fd00::5]:9000'],
    ['listen: { hostname: "::" }', 'http://localhost:9000'],
    ['webserver: { hostname: 127.0.0.1 }\nlisten: { port: 9100 }', 'http://127.0.0.1:9100'],
    ['webserver: { hostname: video.example, https: true }', 'https://video.example'],
    ['webserver: { hostname: video.example, https: true, port: 8443 }', 'https://video.example:8443'],
    ['webserver: { hostname: Bücher.example, port: 80 }', 'http://xn--bcher-kva.example'],
  ])('%j is %s', (yaml, publicUrl) => {
    expect(load([yaml]).publicUrl).toBe(publicUrl)
  })

  it('is in the configuration too', () => {
    expect(load([], { VIREO__LISTEN__PORT: '9100' }).config.webserver).toEqual({
      hostname: 'localhost',
      port: 9100,
      https: false,
    })
  })
})

describe('the configuration', () => {
  it('is immutable', () => {
    const { config } = load()
    expect(Reflect.set(config.transcoding, 'threads', 9)).toBe(false)
    expect(config.transcoding.threads).toBe(1)
    expect(Object.isFrozen(config.vireo.jobs.types.email)).toBe(true)
    expect(Object.isFrozen(config.trust_proxy)).toBe(true)
  })

  it('is separate for two servers', () => {
    expect(load().config).not.toBe(load().config)
    expect(load().config.thumbnails.sizes).not.toBe(load().config.thumbnails.sizes)
  })

  it('for tests allows loopback peers, has no rate limits, and accepts overrides', () => {
    const config = testConfig({ listen: { port: 0 }, transcoding: { threads: 3 } }, { dataDir: '/test-data' })
    expect(config.vireo.federation).toMatchObject({ allow_http: true, allow_private_addresses: true })
    expect(config.rates_limit.login).toEqual({ max: 1_000_000, window: 300_000 })
    expect(config.transcoding.threads).toBe(3)
    expect(config.storage.tmp).toBe('/test-data/storage/tmp')
    expect(() => testConfig({ transcoding: { treads: 3 } })).toThrow('transcoding.threads')
  })
})

function literally(text: string): string {
  return text.replace(/[.?]/g, '\\$&')
}
