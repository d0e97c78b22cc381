// `vireo move-storage` and `vireo prune-storage`.

import type { PrunedKind } from '../actors/storage-prune/index.ts'
import { mixedFolders } from '../connections.ts'
import { type Place, places } from '../media/index.ts'
import { collectId, oneOf, positive, type Tools } from './family.ts'
import { operate } from './operate.ts'

const HOUR_MS = 3_600_000
/** Missing files that are listed. */
const EXAMPLES = 20

export function storageCommands({ program, load, out }: Tools): void {
  program
    .command('move-storage')
    .description('move what is stored to where new files go: jobs of the running server do it, and may be asked for again')
    .requiredOption('--to <place>', places.join(' or '), oneOf(places))
    .option('--video <id>', 'this video alone; may be repeated', collectId, [])
    .action(async ({ to, video }: { to: Place; video: number[] }) => {
      const asked = await operate(load(), (operator) => operator.moveStorage({ to, ...(video.length > 0 ? { videoIds: video } : {}) }))
      const { videos, left } = asked
      const others = video.length > 0 ? '' : ' and of all other files'
      out.answer(asked, [
        `Queued the move of ${videos} ${videos === 1 ? 'video' : 'videos'}${others}.`,
        ...(left.length === 0
          ? []
          : ['Videos whose transcoding failed stay where they are. Transcode or remove them, then ask again:', ...left]),
      ])
    })

  program
    .command('prune-storage')
    .description('find files that nothing refers to, and rows whose file is missing; a preview unless --delete is said')
    .option('--delete', 'remove the unreferenced files, after a confirmation')
    .option('--yes', 'do not ask')
    .option('--older-than <hours>', 'leave younger files alone', positive, 24)
    .option('--no-missing', 'do not look for missing files, which is slow with object storage')
    .action(async (options: { delete?: boolean; yes?: boolean; olderThan: number; missing: boolean }) => {
      if (options.delete && !options.yes) out.assertCanAsk()
      const olderThanMs = options.olderThan * HOUR_MS
      const loaded = load()
      const mixed = mixedFolders(loaded)
      if (mixed) throw new Error(`The files in use cannot be determined: ${mixed}. Give each a folder of its own.`)
      await operate(loaded, async (operator) => {
        const withProgress = async <T>(what: string, work: (onLook: (looked: number) => void) => Promise<T>) => {
          const progress = out.progress(what)
          try {
            return await work((looked) => progress.at(looked))
          } finally {
            progress.end()
          }
        }
        const prune = (remove: boolean) =>
          withProgress(remove ? 'Files looked at and pruned' : 'Files looked at', (onLook) =>
            operator.pruneStorage({ remove, olderThanMs, onLook }),
          )
        const preview = options.delete && options.yes ? undefined : await prune(false)
        const found = sum(preview ?? [], 'unreferenced')
        const missing = options.missing
          ? await withProgress('Rows looked at', (onLook) => operator.findMissingFiles({ examples: EXAMPLES, onLook }))
          : null
        let kinds = preview ?? []
        let isDone = options.delete === true && options.yes === true
        if (options.delete && !options.yes && found > 0) {
          for (const line of table(kinds)) out.note(line)
          isDone = await out.confirm(`Remove ${found} files?`)
        }
        if (isDone) kinds = await prune(true)
        const document = { deleted: sum(kinds, 'removed'), kinds, missing }
        out.answer(document, [
          ...table(kinds),
          `${sum(kinds, 'unreferenced')} files of ${sizeText(sum(kinds, 'unreferencedBytes'))} are referred to by nothing; ${document.deleted} were removed.`,
          ...(sum(kinds, 'young') > 0
            ? [`${sum(kinds, 'young')} more are younger than ${options.olderThan} hours, and are left alone.`]
            : []),
          ...(isDone || found === 0 ? [] : ['Nothing was changed. Remove them with --delete.']),
          ...missingLines(missing),
        ])
      })
    })
}

type Missing = { count: number; examples: { kind: string; name: string }[] } | null

function missingLines(missing: Missing): string[] {
  if (!missing) return []
  if (missing.count === 0) return ['No file that a row names is missing.']
  return [
    `${missing.count} files that rows name are missing. Restore them from the backup, or remove what they belong to:`,
    ...missing.examples.map(({ kind, name }) => `  ${kind} ${name}`),
  ]
}

type Sums = 'unreferenced' | 'unreferencedBytes' | 'young' | 'removed'
const sum = (kinds: readonly PrunedKind[], of: Sums): number => kinds.reduce((total, kind) => total + kind[of], 0)

const table = (kinds: readonly PrunedKind[]): string[] =>
  kinds.flatMap(({ place, kind, files, bytes, unreferenced, unreferencedBytes, examples }) => [
    `${kind.padEnd(21)} ${place.padEnd(15)} ${files} files, ${sizeText(bytes)}; unneeded: ${unreferenced}, ${sizeText(unreferencedBytes)}`,
    ...examples.map((name) => `  ${name}`),
  ])

function sizeText(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), 4)
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${['bytes', 'KiB', 'MiB', 'GiB', 'TiB'][power]}`
}
