// Where a server keeps what a backup needs, as its configuration says: lines of `name<TAB>value` for the scripts beside this file.

import { join, resolve } from 'node:path'
import { type LoadedConfig, loadConfig } from '../../src/config/index.ts'

/** Work in progress, logs, and what is fetched or made again when it is missing. */
const NOT_SAVED = ['tmp', 'bin', 'logs', 'cache', 'plugins']

const loaded = loadConfig({ files: [], env: process.env, cwd: process.cwd() })
for (const [name, value] of [...general(loaded), ...database(loaded), ...folders(loaded), ...files()]) {
  if (/[\t\n]/.test(value)) throw new Error(`The value of ${name} has a tabulator or a line break in it.`)
  console.log(`${name}\t${value}`)
}

function general({ dataDir, config }: LoadedConfig): [string, string][] {
  return [
    ['data', dataDir],
    ['secret', config.secrets.peertube === '' ? 'file' : 'configured'],
    ['buckets', config.object_storage.endpoint],
  ]
}

/** The database as the variables that the programs of PostgreSQL read, so that the password is in no command line. */
function database(choice: LoadedConfig): [string, string][] {
  const { database: chosen } = choice
  if (chosen.kind !== 'server') return [['embedded', join(choice.dataDir, 'postgres')]]
  const url = new URL(chosen.url)
  const socket = url.searchParams.get('host')
  return [
    ['PGHOST', socket ?? decodeURIComponent(url.hostname.replace(/^\[(.*)\]$/, '$1'))],
    ['PGPORT', url.port || '5432'],
    ['PGUSER', decodeURIComponent(url.username)],
    ['PGPASSWORD', decodeURIComponent(url.password)],
    ['PGDATABASE', decodeURIComponent(url.pathname.slice(1))],
    ['PGSSLMODE', chosen.verifyCertificate ? 'verify-full' : chosen.ssl ? 'require' : 'prefer'],
  ]
}

function folders({ config }: LoadedConfig): [string, string][] {
  return Object.entries(config.storage)
    .filter(([kind, path]) => typeof path === 'string' && !NOT_SAVED.includes(kind))
    .map(([kind, path]) => [`storage/${kind}`, String(path).replace(/\/+$/, '')])
}

function files(): [string, string][] {
  const paths = (process.env.VIREO_CONFIG ?? '').split(':').filter((path) => path !== '')
  return paths.map((path) => ['config', resolve(path)])
}
