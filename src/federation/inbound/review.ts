// ApproveReply and RejectReply: the owner of a remote video reviewed a comment on it.

import { isSameOrigin } from '../security/index.ts'
import { readReplyApproval } from '../wire/index.ts'
import { expectRead, type Handler } from './context.ts'

/** The owner of the video is known here; nobody else on its server may review. */
export const handleReview: Handler = async ({ document, actor }, { reviews }) => {
  const { id, comment, isApproved } = expectRead(readReplyApproval(document))
  const approvalUrl = isApproved && isSameOrigin(id, actor.url) ? id : null
  await reviews.receiveReview({ url: comment, actorId: actor.id, isApproved, approvalUrl })
}
