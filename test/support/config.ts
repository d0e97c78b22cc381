// Default configuration of tests: peers on loopback are allowed, there are no rate limits, logs are silent, and storyboards, torrents and
// requests to the internet are off.

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, type LoadedConfig, loadConfig } from '../../src/config/index.ts'
import { merge, type Values } from '../../src/config/layers.ts'

/** Name of the stand-in for yt-dlp. */
export const YT_DLP = 'yt-dlp-stand-in'

/** Database connections of a node; each loads the catalogue and plans by itself. */
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
  // Results must not depend on whether yt-dlp is installed.
  import: { videos: { http: { youtube_dl_release: { name: YT_DLP, python_path: '/nowhere' } } } },
  open_telemetry: { metrics: { prometheus_exporter: { port: 0 } } },
  vireo: { federation: { allow_http: true, allow_private_addresses: true }, imports: { torrent_dht: false } },
}

export interface TestConfigOptions {
  /** Default: a path in the system's temporary folder, which is never created. */
  dataDir?: string
  /** Additional environment variables, such as DATABASE_URL. */
  env?: Record<string, string>
}

/** Throws if `overrides` (nested keys, as in YAML) contain an unknown key or an invalid value. */
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
