// A comment of another server: attached to the video, or to the comment, that it answers. Unknown parents are fetched,
// up to a bounded depth.

import { DomainError } from '../../actors/runtime/index.ts'
import { isSameOrigin } from '../security/index.ts'
import { isPublic, type NoteDocument, readNote } from '../wire/index.ts'
import { accountOf, expectRead, type Inbound, type InboundContext } from './context.ts'
import { forward } from './forward.ts'

export async function receiveNote(
  note: NoteDocument,
  { activity, document, actor }: Inbound,
  context: InboundContext,
): Promise<void> {
  if (note.author !== actor.url) throw new DomainError('forbidden', `${note.id} is a comment of somebody else.`)
  const { videoId, isNew, isHeld } = await store(note, accountOf(actor), context, 0)
  // Told twice, it would go out to everybody twice; held, it waits for the owner of the video.
  if (isNew && !isHeld) await forward({ activity, document, actor }, videoId, context)
}

async function store(
  note: NoteDocument,
  accountId: number,
  context: InboundContext,
  depth: number,
): Promise<{ videoId: number; isNew: boolean; isHeld: boolean }> {
  if (!isPublic(note)) throw new DomainError('forbidden', `${note.id} is not for everybody.`)
  const { videoId, parentUrl } = await parentOf(note.inReplyTo, context, depth)
  const received = await context.comments.receiveComment({
    url: note.id,
    videoId,
    accountId,
    parentUrl,
    content: note.content,
    mediaType: note.mediaType,
    createdAt: note.publishedAt,
  })
  return { videoId, ...received }
}

/** The video that a comment belongs to, and the comment that it answers, stored when they were not. */
async function parentOf(
  inReplyTo: string,
  context: InboundContext,
  depth: number,
): Promise<{ videoId: number; parentUrl: string | null }> {
  const { db, config, fetchDocument, resolveActor } = context
  const [video] = await db.query<{ id: number }>('select id from video where url_hash = md5($1)::uuid and url = $1', [
    inReplyTo,
  ])
  if (video) return { videoId: video.id, parentUrl: null }
  const [comment] = await db.query<{ video_id: number }>(
    'select video_id from comment where url_hash = md5($1)::uuid and url = $1',
    [inReplyTo],
  )
  if (comment) return { videoId: comment.video_id, parentUrl: inReplyTo }
  if (depth >= config().vireo.federation.max_comment_recursion) {
    throw new DomainError('unprocessable', 'This thread is too deep.')
  }
  const { document } = await fetchDocument(inReplyTo)
  if (document.type === 'Video') {
    throw new DomainError('not_found', `${inReplyTo} is a video that nobody here follows.`)
  }
  const parent = expectRead(readNote(document))
  // Nobody signed it: its author is whom its server says, of that server alone.
  if (!isSameOrigin(parent.author, parent.id)) {
    throw new DomainError('forbidden', `${parent.id} is said to be of ${parent.author}, who is of another server.`)
  }
  const author = await resolveActor(parent.author)
  await store(parent, accountOf(author), context, depth + 1)
  return await parentOf(inReplyTo, context, depth + 1)
}
