// The reference of all keys as Markdown, generated from the schema, so that docs/configuration.md cannot drift.

import { variableOf } from './environment.ts'
import type { KeyInfo } from './kinds.ts'
import { type Key, type Node, tree } from './tree.ts'
import { isUnsupported } from './unsupported.ts'

const INTRODUCTION = `# Configuration

Vireo starts with nothing configured: it keeps its data in \`./data\`, with an embedded PostgreSQL and without Redis.
An existing PeerTube \`production.yaml\` is accepted as it is. This page is made from the schema by \`npm run docs\`.

## Where values come from

Each source wins over those before it:

1. the defaults below;
2. YAML files: those of \`VIREO_CONFIG\` (paths separated by \`:\`), then those of \`--config FILE\`, in their order. Sections
   are merged key by key, lists are replaced;
3. variables of the environment: any key as \`VIREO__SECTION__KEY\`, in capital or small letters, dashes written as
   underscores. Values are YAML (\`4\`, \`true\`, \`[a, b]\`, \`{ enabled: true }\`), texts are taken as they are:
   \`VIREO__TRANSCODING__RESOLUTIONS__1080P=true\`, \`VIREO__INSTANCE__NAME=My videos\`;
4. what administrators change over the API while the server runs, for the keys marked *editable*. It is stored in the
   database, as far as it differs from the above, and in force in every process within a second. A key that has a variable of
   its own (\`VIREO__INSTANCE__NAME\`) is pinned: changes of it are refused with 405, and stored ones are not in force.

An unknown key is named in a warning, with the nearest known one. A wrong value stops the start with a line that names the
key, the value and what was expected. An empty value (null) means the default, except where null is a value of its own.

| variable | means | default |
|---|---|---|
| \`VIREO_CONFIG\` | YAML files, separated by \`:\` | none |
| \`VIREO_DATA_DIR\` | folder of all data | \`./data\` |
| \`DATABASE_URL\` | PostgreSQL, \`postgres://user:password@host:5432/database\`, with \`?sslmode=verify-full\` if wanted | none |
| \`REDIS_URL\` | Redis, \`redis://:password@host:6379/0\`, \`rediss://…\` or the path of a socket | none |

## What follows what

- **PostgreSQL**: \`DATABASE_URL\`, else the \`database:\` section when it names a server (\`pool\` alone does not), else the
  embedded one. Without \`database.name\` the database is called \`peertube\` and \`database.suffix\`.
- **Redis**: \`REDIS_URL\`, else the \`redis:\` section, else none: queues and caches are then in PostgreSQL, rate limits in
  memory.
- **Public address**: what \`webserver\` does not say follows \`listen\`. The host is \`localhost\` when the server listens on
  a loopback or wildcard address, else the listening address; the port is \`listen.port\`, or 443 with \`webserver.https\`. So
  \`VIREO__LISTEN__PORT=9100\` alone makes \`http://localhost:9100\`. Ids of videos and accounts begin with this address:
  do not change it once others know the server.
- **Folders** in \`storage\` that are relative start in the data folder (\`VIREO_DATA_DIR\`).
- **Ladder**: without any file, \`transcoding.resolutions\` has 144p to 1080p on, so that a first upload plays well everywhere.
  With a file, only what the file enables is made (and the input's own resolution).
- **Plain http and private addresses** of peers are refused unless \`vireo.federation.allow_http\` and
  \`vireo.federation.allow_private_addresses\` allow them.

## How values are written

- durations: \`10 seconds\`, \`5 minutes\`, \`1 day 12 hours\`, \`2 weeks\`, \`250 ms\`, or a number of milliseconds; a month is 30 days
- sizes: \`100MB\`, \`10GB\`, or a number of bytes; 1 KB is 1024 bytes
- \`-1\` means no limit where the table says so
`

/** docs/configuration.md. */
export function describeConfig(): string {
  const sections = [...tree.children].map(([name, node]) => describeSection(name, node))
  return `${INTRODUCTION}\n## Keys\n\n${example()}\n${sections.join('\n')}`
}

function example(): string {
  return `A key such as \`oauth2.token_lifetime.access_token\` is \`${variableOf('oauth2.token_lifetime.access_token')}\` in the environment.\n`
}

function describeSection(name: string, node: Node): string {
  const groups = name === 'vireo' && node.kind === 'section' ? [...node.children] : [[name, node] as const]
  const titled = groups.map(([group, inner]) => {
    const title = name === 'vireo' ? `vireo.${group}` : group
    const rows = keysOf(inner).map(describeKey)
    return `### ${title}\n\n| key | default | value | meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`
  })
  return titled.join('\n')
}

function keysOf(node: Node): Key[] {
  return node.kind === 'key' ? [node] : [...node.children.values()].flatMap(keysOf)
}

function describeKey({ path, info }: Key): string {
  const editable = info.editable ? ' *(editable)*' : ''
  return `| \`${path}\` | ${describeDefault(path, info)} | ${cell(describeKind(info))} | ${isUnsupported(path) ? 'no effect yet: ' : ''}${cell(info.doc)}${editable} |`
}

function describeDefault(path: string, info: KeyInfo): string {
  if (path.startsWith('storage.')) return `\`<data>/${info.default}\``
  const shown = typeof info.default === 'string' && info.default !== '' ? info.default : JSON.stringify(info.default)
  return `\`${cell(shown)}\``
}

/** Shortens 'a duration such as …' to 'a duration'; the formats are explained once. */
function describeKind(info: KeyInfo): string {
  return info.expects.replace(/ such as '.*? or a number of \w+/, '').replace(/^an? /, '')
}

function cell(text: string): string {
  return text.replaceAll('\n', '\\n').replaceAll('|', '\\|')
}
