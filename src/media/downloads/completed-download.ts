// Records the result of a download next to its file, so that a later attempt finds it and downloads nothing again.

import { open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { randomToken, sha256 } from '../../platform/ids.ts'
import type { DownloadedVideo, DownloadOptions, DownloadSource } from './download.ts'
import { tooLarge } from './download-error.ts'

const NOTE = 'complete.json'
const COMPLETE = /^complete-/

const name = z.string().regex(/^[^/\\]+$/)
const text = z.string().optional()

const noteSchema = z.object({
  source: z.string(),
  file: name.regex(COMPLETE),
  size: z.number(),
  fileName: z.string(),
  picture: name.optional(),
  subtitles: z.array(z.object({ language: z.string(), file: name })),
  metadata: z.object({
    title: text,
    description: text,
    licence: text,
    language: text,
    tags: z.array(z.string()).optional(),
    categories: z.array(z.string()).optional(),
    ageLimit: z.number().optional(),
    publishedAt: z.coerce.date().optional(),
    chapters: z.array(z.object({ start: z.number(), title: z.string() })).optional(),
  }),
})
type Note = z.infer<typeof noteSchema>

/** Unique per attempt: a late one must not mistake another's file for its own. */
export const completePath = (folder: string, extension = ''): string => join(folder, `complete-${randomToken(8)}${extension}`)

/** The result of an earlier attempt. Throws DownloadError if it exceeds the current limit. */
export async function findCompleted(
  source: DownloadSource,
  { folder, maxBytes, bringBack }: DownloadOptions,
): Promise<DownloadedVideo | undefined> {
  const note = await read(folder)
  if (note?.source !== keyOf(source)) return undefined
  const path = join(folder, note.file)
  if ((await sizeOf(path)) !== note.size) {
    await bringBack?.(path)
    if ((await sizeOf(path)) !== note.size) return undefined
  }
  if (note.size > maxBytes) throw tooLarge()
  const picture = note.picture === undefined ? undefined : join(folder, note.picture)
  return {
    path,
    fileName: note.fileName,
    metadata: note.metadata,
    picturePath: picture !== undefined && (await sizeOf(picture)) !== undefined ? picture : undefined,
    subtitles: note.subtitles.map(({ language, file }) => subtitleAt(language, join(folder, file))),
  }
}

/** Durable before the file is used. */
export async function recordCompleted(source: DownloadSource, folder: string, video: DownloadedVideo): Promise<void> {
  const { path, fileName, metadata, picturePath, subtitles = [] } = video
  const note: Note = {
    source: keyOf(source),
    file: basename(path),
    size: await flushed(path),
    fileName,
    metadata,
    ...(picturePath === undefined ? {} : { picture: basename(picturePath) }),
    subtitles: subtitles.map(({ language, path }) => ({ language, file: basename(path) })),
  }
  const written = join(folder, `noted-${randomToken(8)}.json`)
  try {
    await writeFile(written, JSON.stringify(note), { flush: true })
    await rename(written, join(folder, NOTE))
  } finally {
    await rm(written, { force: true })
  }
}

/** Before a new download: there may be no space for both. */
export async function removeCompletedRecord(folder: string): Promise<void> {
  const names = await readdir(folder)
  for (const one of names) if (one === NOTE || COMPLETE.test(one)) await rm(join(folder, one), { force: true })
}

export const subtitleAt = (language: string, path: string): NonNullable<DownloadedVideo['subtitles']>[number] => ({
  language,
  path,
  read: () => readFile(path),
})

async function read(folder: string): Promise<Note | undefined> {
  try {
    return noteSchema.parse(JSON.parse(await readFile(join(folder, NOTE), 'utf8')))
  } catch {
    return undefined
  }
}

async function flushed(path: string): Promise<number> {
  const file = await open(path, 'r+')
  try {
    await file.datasync()
    return (await file.stat()).size
  } finally {
    await file.close()
  }
}

const sizeOf = async (path: string): Promise<number | undefined> => (await stat(path).catch(() => undefined))?.size

/** Hashed, since addresses may contain secrets. */
function keyOf(source: DownloadSource): string {
  const what = source.kind === 'url' ? source.url : source.kind === 'magnet' ? source.uri : source.bytes
  return `${source.kind}:${sha256(what).toString('hex')}`
}
