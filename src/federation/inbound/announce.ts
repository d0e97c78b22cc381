// Announce: a channel or server announces a video; anybody may share a local one. Groups forward activities with it.

import { findVideoByUrl, isOpen } from '../../actors/video/index.ts'
import { readAnnounce } from '../wire/index.ts'
import { expectRead, type Handler } from './context.ts'
import { handleForwarded, isForwardable } from './forwarded-activity.ts'
import { aboutActivity } from './policy/index.ts'

export const handleAnnounce: Handler = async (inbound, context) => {
  const { target } = expectRead(readAnnounce(inbound.document))
  if (!isForwardable(target)) return await share(inbound, context)
  if (inbound.actor.type === 'Group') await handleForwarded(target, inbound.actor.url, context)
}

const share: Handler = async ({ activity, document, actor }, { db, videos, shares, urls, blocked, forOthers, policy, objectAt }) => {
  const { id, target } = expectRead(readAnnounce(document))
  if (target.id === null) return
  const url = await objectAt(target.id)
  const isLocal = url.startsWith(`${urls.origin}/`)
  const subject = isLocal ? undefined : await blocked.ofThing(url)
  if (subject && policy.judge({ subject }, aboutActivity(activity)).verdict !== 'pass') return
  const known = await findVideoByUrl(db, url)
  if (isLocal && !(known && isOpen(known))) return
  // A share by a person or a bot does not cause a fetch: their server is not followed for that.
  const mayBring = actor.type === 'Group' || actor.type === 'Application'
  if (!known && !mayBring) return
  const videoId = known?.id ?? (await forOthers.fetch(actor.url, url, () => videos.resolve(url))).id
  await shares.receiveShare({ videoId, actorId: actor.id, url: id })
}
