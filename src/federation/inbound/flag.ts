// Flag: a remote actor reports local content, or a comment on a local video. Everybody may; the rate per host is limited.

import { predefinedReasonIds } from '../../actors/abuse/index.ts'
import { readFlag } from '../wire/index.ts'
import { accountOf, expectRead, type Handler } from './context.ts'
import { aboutActivity } from './policy/index.ts'

export const handleFlag: Handler = async ({ activity, document, actor }, { abuses, policy, objectAt }) => {
  const { id, content, mediaType, objects, reasons, startAt, endAt } = expectRead(readFlag(document))
  await abuses.receiveReport({
    url: id,
    reporterId: accountOf(actor),
    mayTake: (report) => policy.judge({ report }, aboutActivity(activity)).verdict === 'pass',
    objectUrls: await Promise.all(objects.map((url) => objectAt(url, { comments: true }))),
    content: content ?? '',
    mediaType,
    startAt,
    endAt,
    predefinedReasons: predefinedReasonIds(reasons),
  })
}
