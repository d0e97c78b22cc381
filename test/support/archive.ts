// A user archive exported by another server (test/fixtures/peertube-export.zip), and builders of similar items.

import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import yauzl from 'yauzl'
import type { Client } from '../../scripts/demo/client.ts'
import { type ImportedPart, partOf, partPath } from '../../src/actors/user-archive/index.ts'
import { until } from './until.ts'

export const fixture = new URL('../fixtures/peertube-export.zip', import.meta.url)
const openZip = promisify<Buffer, yauzl.Options, yauzl.ZipFile>(yauzl.fromBuffer)

/** All files of the archive, by path. */
export async function readFixture(): Promise<Map<string, Buffer>> {
  const zip = await openZip(await readFile(fixture), { autoClose: false, lazyEntries: true })
  const files = new Map<string, Buffer>()
  const openEntry = promisify(zip.openReadStream.bind(zip)) as (entry: yauzl.Entry) => Promise<NodeJS.ReadableStream>
  for await (const entry of zip.eachEntry()) {
    const chunks: Buffer[] = []
    for await (const chunk of await openEntry(entry)) chunks.push(Buffer.from(chunk))
    files.set(entry.fileName, Buffer.concat(chunks))
  }
  return files
}

/** The items of a part; a part that is no list has one item. */
export function itemsOf(files: ReadonlyMap<string, Buffer>, part: ImportedPart): unknown[] {
  const document: unknown = JSON.parse(files.get(partPath(part))?.toString() ?? 'null')
  const { list } = partOf(part)
  return list === null ? [document] : ((document as Record<string, unknown[]>)[list] ?? [])
}

const DATE = '2026-01-02T03:04:05.678Z'
const OLD = 'http://old.example'
let serial = 0

/** A remote video; its file is `files/videos/video-files/<uuid>.mp4`. */
export function archivedVideo(channel: string, columns: Record<string, unknown> = {}) {
  serial += 1
  const uuid = `00000000-0000-4000-8000-${String(serial).padStart(12, '0')}`
  return {
    uuid,
    url: `${OLD}/videos/watch/${uuid}`,
    name: `film ${serial}`,
    privacy: 1,
    duration: 2,
    nsfw: false,
    state: 1,
    createdAt: DATE,
    updatedAt: DATE,
    publishedAt: DATE,
    channel: { name: channel },
    archiveFiles: { videoFile: `../files/videos/video-files/${uuid}.mp4`, thumbnail: null, captions: {} },
    ...columns,
  }
}

export function archivedPlaylist(columns: Record<string, unknown> = {}) {
  serial += 1
  const uuid = `00000000-0000-4000-9000-${String(serial).padStart(12, '0')}`
  return {
    uuid,
    url: `${OLD}/video-playlists/${uuid}`,
    displayName: `list ${serial}`,
    privacy: 3,
    type: 1,
    channel: {},
    createdAt: DATE,
    updatedAt: DATE,
    elements: [],
    archiveFiles: { thumbnail: null },
    ...columns,
  }
}

export const archivedChannel = (name: string, columns: Record<string, unknown> = {}) => ({
  url: `${OLD}/video-channels/${name}`,
  name,
  displayName: `The ${name}`,
  createdAt: DATE,
  updatedAt: DATE,
  archiveFiles: { avatar: null, banner: null },
  ...columns,
})

type Stats = Record<string, { success: number; duplicates: number; errors: number }>

/** Uploads an archive in one chunk, waits for its import, and returns the import's counts. */
export async function importArchive(client: Client, userId: number, archive: Buffer): Promise<Stats> {
  const begun = await client.raw(`/api/v1/users/${userId}/imports/import-resumable`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-upload-content-type': 'application/zip',
      'x-upload-content-length': String(archive.length),
    },
    body: JSON.stringify({ filename: 'archive.zip' }),
  })
  if (begun.status !== 201) throw new Error(`The upload was not begun: ${begun.status}`)
  const sent = await client.raw(`http:${begun.headers.get('location')}`, {
    method: 'PUT',
    headers: { 'content-range': `bytes 0-${archive.length - 1}/${archive.length}` },
    body: new Uint8Array(archive),
  })
  if (sent.status !== 204) throw new Error(`The archive was not taken: ${sent.status}`)
  let latest: { state: { label: string }; error: string | null; resultSummary: { stats: Stats } } | undefined
  await until(
    async () => {
      latest = await client.get<NonNullable<typeof latest>>(`/api/v1/vireo/users/${userId}/imports/latest`)
      return ['Completed', 'Failed'].includes(latest.state.label)
    },
    { what: 'the end of an import' },
  )
  if (!latest || latest.error !== null) throw new Error(`The archive was not imported: ${latest?.error}`)
  return latest.resultSummary.stats
}
