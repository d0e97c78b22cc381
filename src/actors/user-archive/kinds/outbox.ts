// The user's published activities, as other servers received them: `activity-pub/outbox`.

import { FEDERATED_STATES, videoPrivacies } from '../../video/index.ts'
import type { ArchivedDocument } from '../archive-documents.ts'
import type { Export } from '../export.ts'
import { rowsOf, upTo } from '../rows.ts'

/** Documents that are built together. */
const PAGE = 20

const { public: PUBLIC, unlisted: UNLISTED } = videoPrivacies
const VIDEOS = `select v.id as key from video v where v.channel_id = $3 and not v.remote and v.privacy in (${PUBLIC}, ${UNLISTED})
  and v.state in ${FEDERATED_STATES} and not v.blocked and v.id > $1 order by v.id limit $2`

const COMMENTS = `select m.id as key from comment m
  where m.account_id = $3 and m.deleted_at is null and not m.held_for_review and m.id > $1 order by m.id limit $2`

interface Keyed {
  key: number
}

export const writeOutbox = (of: Export): Promise<void> =>
  of.writer.collection('outbox', of.documents.collection('outbox.json', 'activities'), activities(of))

async function* activities(of: Export): AsyncGenerator<ArchivedDocument> {
  for (const { id } of of.user.channels) {
    for await (const ids of batches(rowsOf<Keyed>(of, VIDEOS, [id]))) {
      const known = ids.flatMap((key) => {
        const files = of.archivedVideos.get(key)
        return files ? [[key, files] as const] : []
      })
      yield* await of.documents.videos(new Map(known))
    }
  }
  const comments = upTo(of, rowsOf<Keyed>(of, COMMENTS, [of.user.account.id]))
  for await (const ids of batches(comments)) yield* await of.documents.comments(ids)
}

async function* batches(rows: AsyncIterable<Keyed>): AsyncGenerator<number[]> {
  let batch: number[] = []
  for await (const { key } of rows) {
    batch.push(key)
    if (batch.length < PAGE) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
