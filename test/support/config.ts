// Configuration for tests: peers on loopback are allowed, nobody is rate-limited, logs are silent, no ffmpeg runs for
// storyboards that nobody looks at, no torrents are made, and none is looked for on the internet.

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, type LoadedConfig, loadConfig } from '../../src/config/index.ts'
import { merge, type Values } from '../../src/config/layers.ts'

/** The name of what stands in for yt-dlp. */
export const YT_DLP = 'yt-dlp-stand-in'

/** Database connections of a node; each loads the catalogue and plans for itself. */
export const POOL_MAX = 3

const UNLIMITED = { max: 1_000_000 }

const FOR_TESTS: Values = {
  log: { level: 'silent' },
  rates_limit: Object.fromEntries(
    [
      'api',
      'login',
      'signup',
      'ask_send_email',
      'receive_client_log',
      'plugins',
      'well_known',
      'feeds',
      'activity_pub',
      'client',
      'download_generate_video',
    ].map((group) => [group, UNLIMITED]),
  ),
  storyboards: { enabled: false },
  tracker: { enabled: false },
  database: { pool: { max: POOL_MAX } },
  live: { rtmp: { port: 0 } },
  // Whether yt-dlp is installed on the machine makes no difference.
  import: { videos: { http: { youtube_dl_release: { name: YT_DLP, python_path: '/nowhere' } } } },
  open_telemetry: { metrics: { prometheus_exporter: { port: 0 } } },
  vireo: { federation: { allow_http: true, allow_private_addresses: true }, imports: { torrent_dht: false } },
}

export interface TestConfigOptions {
  /** Default: a folder in the system's temporary one, which nobody makes. */
  dataDir?: string
  /** More variables, such as DATABASE_URL. */
  env?: Record<string, string>
}

/** Throws when `overrides` (nested keys as in YAML) hold an unknown key or a wrong value. */
export function testConfig(overrides: Values = {}, options: TestConfigOptions = {}): Config {
  return testLoadedConfig(overrides, options).config
}

export function testLoadedConfig(overrides: Values = {}, options: TestConfigOptions = {}): LoadedConfig {
  const sections = Object.entries(merge(FOR_TESTS, overrides))
  const loaded = loadConfig({
    files: [],
    env: {
      VIREO_DATA_DIR: options.dataDir ?? join(tmpdir(), 'vireo-test-data'),
      ...Object.fromEntries(sections.map(([name, values]) => [`VIREO__${name}`, JSON.stringify(values)])),
      ...options.env,
    },
    cwd: tmpdir(),
  })
  if (loaded.warnings.length > 0) throw new Error(loaded.warnings.join('\n'))
  return loaded
}
