// A report of a video, a comment or an account (machine `abuse`), its messages, and the total of reports by state.

import { defineEntity, p } from '@mikro-orm/postgresql'
import type { AbuseState } from '../../state-machines/abuse.ts'
import type { AbuseKind } from './subject.ts'

export const Abuse = defineEntity({
  name: 'Abuse',
  tableName: 'abuse',
  properties: {
    id: p.integer().primary(),
    state: p.text().$type<AbuseState>(),
    url: p.text(),
    urlHash: p.uuid().nullable(),
    objectUrl: p.text(),
    objectHash: p.uuid().nullable(),
    kind: p.text().$type<AbuseKind>(),
    reason: p.text(),
    predefinedReasons: p.array<number>().columnType('smallint[]'),
    moderationComment: p.text().nullable(),
    startAt: p.integer().nullable(),
    endAt: p.integer().nullable(),
    reporterId: p.integer().nullable(),
    reporterHostId: p.integer().nullable(),
    reporteeId: p.integer().nullable(),
    videoId: p.integer().nullable(),
    commentId: p.integer().nullable(),
    reporterName: p.text(),
    reporterUrl: p.text(),
    reporteeName: p.text(),
    reporteeUrl: p.text(),
    reportedId: p.integer(),
    videoName: p.text().nullable(),
    videoUuid: p.uuid().nullable(),
    videoNsfw: p.boolean().nullable(),
    commentedVideoId: p.integer().nullable(),
    threadId: p.integer().nullable(),
    commentText: p.text().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    processedAt: p.datetime(3).nullable(),
    channelId: p.integer().nullable(),
    channelName: p.text().nullable(),
    channelDisplayName: p.text().nullable(),
    channelUrl: p.text().nullable(),
  },
})

export const AbuseMessage = defineEntity({
  name: 'AbuseMessage',
  tableName: 'abuse_message',
  properties: {
    id: p.integer().primary(),
    abuseId: p.integer(),
    accountId: p.integer().nullable(),
    byModerator: p.boolean(),
    message: p.text(),
    createdAt: p.datetime(3),
  },
})

export const AbuseTotal = defineEntity({
  name: 'AbuseTotal',
  tableName: 'abuse_total',
  properties: {
    kind: p.text().primary(),
    total: p.integer(),
  },
})

export const AbuseTotalDelta = defineEntity({
  name: 'AbuseTotalDelta',
  tableName: 'abuse_total_delta',
  properties: {
    id: p.bigint('number').primary(),
    kind: p.text(),
    delta: p.integer(),
  },
})
