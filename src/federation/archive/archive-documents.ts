// The documents of a user's archive: those that other servers read, with paths to the files of the archive instead of addresses.

import type { ArchiveDocuments, ArchivedVideo } from '../../actors/user-archive/index.ts'
import type { FederationDeps } from '../deps.ts'
import { actorDocument, commentDocument, createCommentActivity, createVideoActivity, videoDocuments } from '../documents/index.ts'
import { imageType } from '../documents/media-types.ts'
import { buildFrame, contextOf, type JsonObject, mergedContext, withoutContext } from '../wire/index.ts'

/** Collections of the archive are in the same folder as the actor. */
const COLLECTIONS = {
  following: 'following.json',
  outbox: 'outbox.json',
  likes: 'likes.json',
  dislikes: 'dislikes.json',
}

/** Comments that are read in parallel, each on a connection of its own. */
const AT_ONCE = 3

export function makeArchiveDocuments({ db, urls, config }: Pick<FederationDeps, 'db' | 'urls' | 'config'>): ArchiveDocuments {
  return {
    async actor(actorId, { avatar, banner }) {
      const document = await actorDocument(db.query, urls, config(), { id: actorId })
      if (!document) return null
      const { icon, image, ...actor } = document
      return { ...actor, ...pictureIn('icon', icon, avatar), ...pictureIn('image', image, banner), ...COLLECTIONS }
    },

    async videos(archived) {
      const ids = [...archived.keys()]
      const [found, chapters] = await Promise.all([videoDocuments(db.query, urls, ids), chaptersOf(ids)])
      return found.map((video) => {
        const document = withFiles(video.document, archived.get(video.id), chapters.get(video.id) ?? [])
        return withoutContext(createVideoActivity(urls, { ...video, document }))
      })
    },

    async comments(ids) {
      const activities: JsonObject[] = []
      for (let at = 0; at < ids.length; at += AT_ONCE) {
        const some = ids.slice(at, at + AT_ONCE)
        for (const comment of await Promise.all(some.map((id) => commentDocument(db.query, urls, id)))) {
          const activity = comment?.isShown ? createCommentActivity(urls, comment) : null
          if (activity) activities.push(withoutContext(activity))
        }
      }
      return activities
    },

    collection: (id, items) =>
      buildFrame({
        id,
        context: items === 'addresses' ? contextOf('base') : mergedContext('video', 'chapters', 'comment'),
      }),
  }

  /** Chapters of the videos that have some. Each ends where the next one begins. */
  async function chaptersOf(ids: readonly number[]): Promise<Map<number, JsonObject[]>> {
    const rows = await db.query<{ id: number; chapters: JsonObject[] }>(
      `select h.video_id as id, jsonb_agg(jsonb_build_object('name', h.title, 'startOffset', h.timecode, 'endOffset', h."end")
         order by h.timecode) as chapters
       from (select k.*, coalesce(lead(k.timecode) over (partition by k.video_id order by k.timecode), v.duration) as "end"
             from video_chapter k join video v on v.id = k.video_id where k.video_id = any($1::int[])) h
       group by h.video_id`,
      [ids],
    )
    return new Map(rows.map(({ id, chapters }) => [id, chapters]))
  }
}

/** The archive contains only the largest picture; without one, the addresses stay. */
function pictureIn(name: string, images: unknown, path: string | null): JsonObject {
  const last = Array.isArray(images) ? images.at(-1) : undefined
  if (last === undefined) return {}
  return { [name]: path === null ? images : [{ ...last, url: path, mediaType: imageType(path) ?? last.mediaType }] }
}

function withFiles(document: JsonObject, archived: ArchivedVideo | undefined, chapters: JsonObject[]): JsonObject {
  if (!archived) return document
  const { videoFile, thumbnail, captions } = archived
  const { icon, subtitleLanguage } = document
  return {
    ...document,
    ...pictureIn('icon', icon, thumbnail),
    subtitleLanguage: listOf(subtitleLanguage).map((caption) => ({
      ...caption,
      url: captions[String(caption.identifier)] ?? caption.url,
    })),
    hasParts: chapters,
    ...(videoFile === null ? {} : { attachment: [attachmentOf(videoFile)] }),
  }
}

const attachmentOf = ({ path, size, ...said }: NonNullable<ArchivedVideo['videoFile']>): JsonObject => ({
  type: 'Video',
  url: path,
  ...said,
  ...(size === null ? {} : { size }),
})

const listOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value : [])
