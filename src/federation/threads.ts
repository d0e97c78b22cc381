// Jobs for remote threads: the parents of a reply, and the comments of a remote video.

import { DomainError } from '../actors/runtime/index.ts'
import { findRemoteAddress } from '../actors/video/index.ts'
import { walkCollection } from './fetch/collections.ts'
import { isHopeless } from './fetch/documents.ts'
import { expectRead, type InboundContext } from './inbound/context.ts'
import { attachNote } from './inbound/note.ts'
import { isSameOrigin } from './security/index.ts'
import { type JsonObject, readActivity, readNote, readVideo } from './wire/index.ts'

export function registerThreadJobs(context: InboundContext): void {
  const { registry, db, config, clock, logger, fetchDocument, waitingComments, threads, reviews } = context

  registry.job('comment-thread', {
    queue: 'io',
    async run({ data, signal }) {
      const waitingId = Number(data.waitingId)
      const waiting = await waitingComments.find(waitingId)
      if (!waiting) return
      try {
        await settle(waiting, signal)
      } catch (error) {
        if (!isHopeless(error)) throw error
        logger.debug({ reason: String(error) }, 'a reply has no place here')
      }
      await waitingComments.forget(waitingId)
    },
    failed: ({ data }) => waitingComments.forget(Number(data.waitingId)),
  })

  async function settle(waiting: { actorId: number; body: string }, signal: AbortSignal): Promise<void> {
    const document: JsonObject = JSON.parse(waiting.body)
    const activity = expectRead(readActivity(document))
    const note = expectRead(readNote(activity.object?.document ?? (await fetchDocument(activity.object?.id ?? '')).document))
    const actor = await context.remoteActors.find(activity.actor)
    if (actor?.id !== waiting.actorId || actor.accountId === null) return
    const place = await threads.resolvePlace(note.inReplyTo, { signal })
    await attachNote(note, { activity, document, incomingId: null, saidAt: null, actor }, place, actor.accountId, context)
  }

  registry.job('comments-refresh', {
    queue: 'io',
    async run({ data, signal, progress }) {
      const url = await findRemoteAddress(db, Number(data.videoId))
      if (url === undefined) return
      const collection = await commentsOf(url)
      if (!collection) return
      const { max_comments } = config().vireo.federation.refresh
      let seen = 0
      const askedAt = clock.now()
      const bounds = { maxPages: max_comments, maxItems: max_comments }
      try {
        for await (const item of walkCollection(fetchDocument, collection, bounds)) {
          signal.throwIfAborted()
          seen += 1
          progress(Math.min(99, seen))
          await takeListed(item, { collection, askedAt, signal, videoId: Number(data.videoId) })
        }
      } catch (error) {
        // Its server does not show them.
        if (!isHopeless(error)) throw error
        logger.debug({ video: url, reason: String(error) }, 'the comments of a remote video cannot be read')
      }
      logger.debug({ video: url, comments: seen }, 'the comments of a remote video were read')
    },
  })

  /** The collection that the video names, on its own server only. */
  async function commentsOf(videoUrl: string): Promise<string | undefined> {
    try {
      const { document } = await fetchDocument(videoUrl)
      const read = readVideo(document)
      const comments = read.ok ? read.value.comments : null
      return comments !== null && isSameOrigin(comments, videoUrl) ? comments : undefined
    } catch (error) {
      if (isHopeless(error)) return undefined
      throw error
    }
  }

  /** A stored comment is approved by being listed; an unknown one is fetched from its server. */
  async function takeListed(
    item: string | JsonObject,
    { collection, askedAt, ...where }: { collection: string; askedAt: Date; signal: AbortSignal; videoId: number },
  ): Promise<void> {
    const url = typeof item === 'string' ? item : String(item.id)
    if (context.urls.isLocal(url) || (await threads.placeOf(url))) return await reviews.receiveListing(url)
    try {
      const isWhole = typeof item !== 'string' && isSameOrigin(url, collection)
      const found = isWhole ? { document: item, askedAt } : await fetchDocument(url)
      await threads.storeFetched(found.document, { ...where, askedAt: found.askedAt })
      await reviews.receiveListing(url)
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      logger.debug({ comment: url, reason: error.message }, 'a listed comment was passed over')
    }
  }
}
