// `vireo blocklist`: exports and imports the servers that the instance blocks.

import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Option } from 'commander'
import { type BadLine, readServerList, writeLines, writeServerTable } from '../actors/blocklist/index.ts'
import { isHost } from '../http/plugins/handles.ts'
import type { Tools } from './family.ts'
import { operate } from './operate.ts'

const FORMATS = { mastodon: writeServerTable, plain: writeLines } as const
type Format = keyof typeof FORMATS
const SERVERS = { kind: 'servers', ownerId: null } as const

interface ImportOptions {
  apply?: boolean
  yes?: boolean
  skipBad?: boolean
}

/** Invalid lines that are shown. */
const MAX_SAID = 20

export function blocklistCommands({ program, load, out, cwd, exitWith }: Tools): void {
  const blocklist = program.command('blocklist').description('pass on the servers that the instance blocks, or take a list')

  blocklist
    .command('export')
    .description('write the list into a file')
    .argument('<file>')
    .addOption(
      new Option('--format <format>', "mastodon's table of domain blocks, or plain: a host in each line")
        .choices(Object.keys(FORMATS))
        .default('mastodon'),
    )
    .action(async (file: string, { format }: { format: Format }) => {
      const hosts = await operate(load(), (operator) => operator.blocklist.names(SERVERS))
      await writeFile(resolve(cwd, file), FORMATS[format](hosts))
      out.answer({ file, format, servers: hosts.length }, `${hosts.length} blocked servers were written to ${file}.`)
    })

  blocklist
    .command('import')
    .description('block the servers of a list in either format; a preview unless --apply is given')
    .argument('<file>')
    .option('--apply', 'block them, after a confirmation')
    .option('--yes', 'do not ask')
    .option('--skip-bad', 'leave out lines that are wrong; otherwise nothing is changed when there is one')
    .action(async (file: string, options: ImportOptions) => {
      if (options.apply && !options.yes) out.assertCanAsk()
      const text = await readFile(resolve(cwd, file), 'utf8')
      const loaded = load()
      const ownHost = new URL(loaded.publicUrl).host
      const { hosts, milder, bad } = readServerList(text, { ownHost, isHost: (host) => isHost(host, loaded.config) })
      const isRefused = bad.length > 0 && !options.skipBad
      if (isRefused) exitWith(1)
      await operate(loaded, async ({ blocklist: blocks }) => {
        const known = new Set(await blocks.names(SERVERS))
        const wanted = hosts.filter((host) => !known.has(host))
        const found = [
          `${wanted.length} servers are new, ${hosts.length - wanted.length} are blocked already, ${milder} entries have a milder severity.`,
          ...badLines(bad),
        ]
        const isApplied = options.apply === true && !isRefused && (options.yes || (await isSure(wanted.length, found)))
        if (isApplied) await withProgress(wanted, (names, onBlocked) => blocks.block(SERVERS, names, onBlocked))
        const document = { file, new: wanted, known: hosts.length - wanted.length, milder, bad, applied: isApplied }
        out.answer(document, [...found, ending({ isRefused, isApplied, count: wanted.length })])
      })
    })

  async function isSure(count: number, found: readonly string[]): Promise<boolean> {
    for (const line of found) out.note(line)
    return await out.confirm(`Block ${count} servers? Follows between them and this server end.`)
  }

  async function withProgress(
    hosts: readonly string[],
    block: (hosts: readonly string[], onBlocked: (done: number) => void) => Promise<unknown>,
  ): Promise<void> {
    const progress = out.progress('Servers blocked')
    try {
      await block(hosts, (done) => progress.at(done, hosts.length))
    } finally {
      progress.end()
    }
  }
}

function ending({ isRefused, isApplied, count }: { isRefused: boolean; isApplied: boolean; count: number }): string {
  if (isApplied) return `${count} servers were blocked.`
  if (isRefused) return 'Nothing was changed. Correct these lines, or leave them out with --skip-bad.'
  return 'Nothing was changed. Block them with --apply.'
}

function badLines(bad: readonly BadLine[]): string[] {
  const said = bad.slice(0, MAX_SAID).map(({ line, problem }) => `line ${line}: ${problem}`)
  return bad.length > MAX_SAID ? [...said, `and ${bad.length - MAX_SAID} more lines`] : said
}
