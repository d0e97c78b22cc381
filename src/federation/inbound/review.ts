// ApproveReply and RejectReply: the owner of a remote video judged a comment below it.

import { isSameOrigin } from '../security/index.ts'
import { readReplyApproval } from '../wire/index.ts'
import { expectRead, type Handler } from './context.ts'

/** Who owns the video is known here; nobody else of its server judges. */
export const handleReview: Handler = async ({ document, actor }, { reviews }) => {
  const { id, comment, isApproved } = expectRead(readReplyApproval(document))
  const approvalUrl = isApproved && isSameOrigin(id, actor.url) ? id : null
  await reviews.receiveReview({ url: comment, actorId: actor.id, isApproved, approvalUrl })
}
