// The user's videos: `videos`, and their files. Each is imported like an upload, with its file from the archive. Everything about one is
// stored in one transaction, with the record of its origin; until then its files are pending. An interrupted import begins the video again.

import { basename, extname, posix } from 'node:path'
import { z } from 'zod'
import { acceptedExtensions, MediaError, toWebVtt } from '../../../media/index.ts'
import type { PlacedCaption } from '../../caption/index.ts'
import { replaceChapters, tidyChapters } from '../../chapter/index.ts'
import { DomainError } from '../../runtime/index.ts'
import { type GivenPictures, languageLabels, type PendingFile, type PictureName } from '../../video/index.ts'
import type { Export } from '../export.ts'
import type { ArchivedFile, ImportContext, ItemOutcome } from '../import-context.ts'
import type { ImportDeps } from '../import-deps.ts'
import { findImported, noteImported } from '../imported-objects.ts'
import { definePart } from '../part.ts'
import { isOfNoUse, withPicture } from '../pictures.ts'
import { readWhole, type Unpack, withWorkFolder } from '../unpack.ts'
import { findOwnChannel } from './channels.ts'
import { measureVideos, videoRows } from './stored-videos.ts'
import { toItem, videoFieldsOf, videoItem } from './video-document.ts'
import { writeVideoFiles } from './video-files.ts'

type Video = z.output<typeof videoItem>

export const videos = definePart({
  name: 'videos',
  list: 'videos',
  item: videoItem,
  result: 'videos',
  namedBy: 'name',
  bound: refuseSharedFiles,

  /** Throws MediaError `disk-full` before writing any file if the space is insufficient. */
  async export(of) {
    const { count, bytes } = await measureVideos(of)
    if (of.withVideoFiles) await refuseWithoutRoom(of, bytes)
    let done = 0
    for await (const row of videoRows(of)) {
      const files = await writeVideoFiles(of, row)
      if (files) of.archivedVideos.set(row.key, files)
      done += 1
      of.progress(Math.min(100, (done * 100) / Math.max(1, count)))
    }
    return items(of)
  },

  import: importer,
})

/** A full disk would stop all other writers. */
async function refuseWithoutRoom({ store }: Export, bytes: number): Promise<void> {
  const room = await store.room('user_exports')
  if (!room || bytes <= room.free) return
  if (bytes > room.total) throw new Error('The archive would be larger than the disk.')
  throw new MediaError('disk-full', 'There is no room on the disk for the archive.')
}

async function* items(of: Export): AsyncGenerator<z.input<typeof videoItem>> {
  for await (const row of videoRows(of)) {
    const files = of.archivedVideos.get(row.key)
    // It was added after the files were written.
    if (files) yield toItem(of, row, files)
  }
}

const named = z.object({
  archiveFiles: z.object({
    videoFile: z.string().nullish().catch(null),
    captions: z.record(z.string(), z.string()).optional().catch({}),
  }),
})

/** In a valid archive no two videos share a file: each import of it takes the same space again. */
function refuseSharedFiles(): (item: unknown) => boolean {
  const taken = new Set<string>()
  return (item) => {
    const { data } = named.safeParse(item)
    if (!data) return false
    const { videoFile, captions = {} } = data.archiveFiles
    const names = [...(videoFile ? [videoFile] : []), ...Object.values(captions)].map((name) => posix.normalize(name))
    const isShared = new Set(names).size < names.length || names.some((name) => taken.has(name))
    for (const name of names) taken.add(name)
    return isShared
  }
}

const LONGEST_NAME = 200

/** A video without a file, or a live, is an error. Views and likes belong to the other server and are not imported. */
function importer(deps: ImportDeps): (item: Video, context: ImportContext) => Promise<ItemOutcome> {
  const { db, tell, config, logger, createVideo, captions, pendingFiles, leases } = deps

  /** True if the same user of this server owned it: the archive returned to its origin. */
  async function isOwn(url: string, accountId: number): Promise<boolean> {
    const found = await db.query(
      `select 1 from video v join channel c on c.id = v.channel_id
       where v.url_hash = md5($1)::uuid and v.url = $1 and not v.remote and v.state <> 'removed' and c.account_id = $2`,
      [url, accountId],
    )
    return found.length > 0
  }

  async function make(item: Video, file: ArchivedFile, channelId: number, context: ImportContext): Promise<void> {
    const { userId, accountId, signal } = context
    const fields = videoFieldsOf(item, channelId)
    const inputFilename = nameOf(item, file)
    await createVideo.checkQuota(userId, file.size)
    // Even without a quota the upload limit applies, and few bytes of an archive may be many when extracted.
    const most = Math.min(await createVideo.quotaLeft(userId), config().vireo.uploads.max_partial_per_user)
    const written: PendingFile[] = []
    await withWorkFolder(deps, signal, async (unpack) => {
      const path = await unpack(file, 'video', most)
      const pictures = await picturesOf(item, context, unpack)
      const draft = await createVideo.inspect({ userId, fields, inputFilename, path, pictures, signal })
      written.push(draft.place, ...draft.pictures.map(({ ref }) => ref))
      try {
        const texts = await placeCaptions(item, context, written)
        await pendingFiles.reserve(leases.owner, [draft.place])
        await createVideo.place(draft, path)
        signal.throwIfAborted()
        await tell.create(async (unit) => {
          const { id } = await createVideo.insert(unit, draft, { isNews: false })
          for (const text of texts) await captions.insert(unit, id, text)
          const chapters = tidyChapters(item.chapters)
          if (chapters.length > 0) await replaceChapters(unit, id, chapters)
          await noteImported(unit, { accountId, kind: 'video', key: item.url }, id)
        })
      } finally {
        // Stored files have no note any more; the same collection removes the folder.
        pendingFiles.giveUp(written)
      }
    })
  }

  /** The original file name, if the archive contains one that fits its file. Throws `unsupported_media_type`. */
  function nameOf({ source }: Video, { path }: ArchivedFile): string {
    const extension = extname(path).toLowerCase()
    const accepted = acceptedExtensions(config())
    if (!accepted.includes(extension)) {
      throw new DomainError(
        'unsupported_media_type',
        `This file is not supported. It should be of one of these types: ${accepted.join(', ')}`,
      )
    }
    const original = basename(source?.inputFilename?.replaceAll('\\', '/') ?? '')
    const fits = original.length <= LONGEST_NAME && extname(original).toLowerCase() === extension && !/\p{Cc}/u.test(original)
    return fits ? original : basename(path).slice(-LONGEST_NAME)
  }

  async function picturesOf(item: Video, context: ImportContext, unpack: Unpack): Promise<GivenPictures> {
    const file = context.file(item.archiveFiles.thumbnail)
    const names: PictureName[] = ['thumbnail', 'preview']
    const fitted = await withPicture(deps, { file, unpack, name: 'picture' }, async (path) => {
      const images: GivenPictures = {}
      for (const name of names) images[name] = await createVideo.fitPicture(name, path)
      return images
    })
    return fitted ?? {}
  }

  /** Adds each written caption to `written`, even if a later one fails. */
  async function placeCaptions(
    { archiveFiles, captions: archivedCaptions }: Video,
    context: ImportContext,
    written: PendingFile[],
  ): Promise<PlacedCaption[]> {
    const placed: PlacedCaption[] = []
    for (const [language, name] of Object.entries(archiveFiles.captions)) {
      const file = Object.hasOwn(languageLabels, language) ? context.file(name) : undefined
      if (!file) continue
      const vtt = await readCaption(file, language, context.signal)
      if (vtt === undefined) continue
      const isAutomatic = archivedCaptions.some((one) => one.language === language && one.automaticallyGenerated)
      const caption = captions.begin(language, { isAutomatic })
      written.push(caption.ref)
      await captions.place(caption, vtt)
      placed.push(caption)
    }
    return placed
  }

  async function readCaption(file: ArchivedFile, language: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      const bytes = await readWhole(file, config().vireo.uploads.max_caption_size, signal)
      const onLoss = (line: number, why: string) =>
        logger.info({ file: file.path, line, why }, 'a part of a caption of an archive is left out')
      return await toWebVtt(bytes, { language, onLoss })
    } catch (error) {
      if (!isOfNoUse(error)) throw error
      logger.debug({ err: error, file: file.path }, 'a caption of an archive is of no use')
      return undefined
    }
  }

  return async (item, context) => {
    const { accountId } = context
    if (await isOwn(item.url, accountId)) return 'duplicate'
    if ((await findImported(db.query, { accountId, kind: 'video', key: item.url })) !== undefined) return 'duplicate'
    const file = item.isLive ? undefined : context.file(item.archiveFiles.videoFile)
    if (!file) return { error: 'file_missing' }
    const channelId = await findOwnChannel(deps, { url: item.url, name: item.channel.name }, accountId)
    if (channelId === undefined) return { error: 'not_found' }
    await make(item, file, channelId, context)
    return 'success'
  }
}
