// Part of `npm run check`: only its owner writes a table, which is the noun whose folder contains its entity (ADR 0016). Others call
// functions of that noun, usually in its `<noun>.writes.ts`.

import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** Owners, which are folders of src/, by table and by entity. */
export interface Owners {
  tables: ReadonlyMap<string, string>
  entities: ReadonlyMap<string, string>
}

/** Files that may write tables of others, and the reasons. */
const EXEMPT: Record<string, string> = {
  'actors/host-change/rewrite.ts': 'rewrites the addresses in all tables while no server runs',
}

/** Code that writes tables passed by name, and the callers. */
const DYNAMIC: Record<string, string> = {
  'actors/runtime/': 'the owner, who declares the name (DECLARATIONS)',
  'platform/queue/back-end.ts': 'the catalog, of the schema of the queue',
}

const NAME = String.raw`(?:only\s+)?"?(\w+|\$\{)`
const SQL_WRITES = new RegExp(
  String.raw`\b(?:insert\s+into|update|delete(?:\s+from)?|merge\s+into|truncate(?:\s+table)?)\s+${NAME}((?:\s*,\s*\w+)*)(?=["\s(\`';),}\w.])`,
  'gi',
)
const ENTITY_WRITES = /\.(?:create|insert|insertMany|upsert|upsertMany|nativeUpdate|nativeDelete)(?:<\w+>)?\(\s*(\w+)/g
/** Matches declarations that name a table for functions of runtime that write it. */
const DECLARATIONS = /(?:\b(?:defineLifecycle|makeRowLeases|recountNext)\([^)]*?|: MaintainedTotal = )\{[^}]*?\btable: '(\w+)'/g

/** `files`: the texts of src/ by path. */
export function ownersOf(files: ReadonlyMap<string, string>): Owners {
  const tables = new Map<string, string>()
  const entities = new Map<string, string>()
  for (const [file, text] of files) {
    if (!file.endsWith('.entity.ts')) continue
    for (const [, name = '', table = ''] of text.matchAll(/name: '(\w+)',\s+tableName: '(\w+)'/g)) {
      tables.set(table, folderOf(file))
      entities.set(name, folderOf(file))
    }
  }
  return { tables, entities }
}

/** Writes of a file to tables of others, one line per write. */
export function foreignWrites(file: string, text: string, { tables, entities }: Owners): string[] {
  if (file in EXEMPT) return []
  const isDynamic = Object.keys(DYNAMIC).some((path) => file.startsWith(path))
  const named = (match: RegExpExecArray, names: readonly string[], owners: ReadonlyMap<string, string>) =>
    names.flatMap((name) => {
      const owner = owners.get(name)
      return owner === undefined || file.startsWith(`${owner}/`) ? [] : [{ match, fault: `writes ${name}, which ${owner} owns` }]
    })
  const faults = [
    ...[...text.matchAll(SQL_WRITES)].flatMap((match) => {
      const [, first = '', more = ''] = match
      if (first !== '${') return named(match, [first, ...more.split(/[\s,]+/)], tables)
      return isDynamic ? [] : [{ match, fault: 'writes a table that only its values name: write the name out' }]
    }),
    ...[...text.matchAll(ENTITY_WRITES)].flatMap((match) => named(match, [match[1] ?? ''], entities)),
    ...[...text.matchAll(DECLARATIONS)].flatMap((match) => named(match, [match[1] ?? ''], tables)),
  ]
  return faults
    .toSorted((a, b) => a.match.index - b.match.index)
    .map(({ match, fault }) => `src/${file}:${text.slice(0, match.index).split('\n').length} ${fault}`)
}

const folderOf = (file: string): string =>
  file
    .split('/')
    .slice(0, file.startsWith('actors/') ? 2 : 1)
    .join('/')

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../src/', import.meta.url))
  const names = (await readdir(root, { recursive: true })).filter((file) => file.endsWith('.ts'))
  const files = new Map(await Promise.all(names.map(async (file) => [file, await readFile(root + file, 'utf8')] as const)))
  const owners = ownersOf(files)
  const faults = [...files].flatMap(([file, text]) => foreignWrites(file, text, owners))
  for (const fault of faults) console.error(fault)
  console.log(`${owners.tables.size} tables, ${faults.length} faults`)
  process.exitCode = owners.tables.size > 0 && faults.length === 0 ? 0 : 1
}
