// A live video and its sessions. The lifecycle of a session is the machine `live-session`.

import { defineEntity, p } from '@mikro-orm/postgresql'
import type { LivePlan } from '../../media/index.ts'
import type { PiecePlace } from './piece-places.ts'

/** `LiveVideoLatencyMode` of the contract. */
export const latencyModes = { default: 1, high: 2, small: 3 } as const
export type LatencyMode = (typeof latencyModes)[keyof typeof latencyModes]

/** A lease of a job that gave a piece. */
export interface RemoteRun {
  /** ISO 8601. */
  leasedAt: string
  firstSequence: number
  /** Of its first piece, in seconds. */
  startTime: number
  /** Where its pieces belong, by the index in their names. */
  places?: Readonly<Record<number, PiecePlace>>
}

/** The renditions of a session that remote runners make. */
export interface RemoteRenditions {
  /** Each has a timeline of its own. */
  runs: RemoteRun[]
}

const VideoLiveSchema = defineEntity({
  name: 'VideoLive',
  tableName: 'video_live',
  properties: {
    videoId: p.integer().primary(),
    /** Null for remote lives. */
    streamKey: p.uuid().nullable(),
    saveReplay: p.boolean(),
    /** Privacy of replays; null without them. */
    replayPrivacy: p.smallint().nullable(),
    permanentLive: p.boolean(),
    latencyMode: p.smallint().$type<LatencyMode>(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})

export class VideoLive extends VideoLiveSchema.class {}
VideoLiveSchema.setClass(VideoLive)

const LiveSessionSchema = defineEntity({
  name: 'LiveSession',
  tableName: 'live_session',
  properties: {
    id: p.integer().primary(),
    videoId: p.integer(),
    state: p.text(),
    context: p.json<Record<string, unknown>>(),
    dueAt: p.datetime(3).nullable(),
    /** As the live said when the stream began. */
    saveReplay: p.boolean(),
    replayPrivacy: p.smallint().nullable(),
    replayVideoId: p.integer().nullable(),
    /** Number of its first piece: the sessions of a permanent live share the addresses of their pieces. */
    firstSequence: p.integer(),
    /** Number of the first piece of its last connection, which may store that file before its row; null in rows of the version before. */
    reserved: p.integer().nullable(),
    /** When sound or picture came last, as the process that receives them says each second; null in rows of the version before. */
    heardAt: p.datetime(3).nullable(),
    /** Its renditions; null until its first piece, or if that could not be probed. */
    plan: p.json<LivePlan>().nullable(),
    /** Null if this server makes them. */
    remote: p.json<RemoteRenditions>().nullable(),
    startedAt: p.datetime(3),
    /** When the publisher stopped or was given up. */
    endedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})

export class LiveSession extends LiveSessionSchema.class {}
LiveSessionSchema.setClass(LiveSession)

/** A stored part of a stream. Pieces are only added. */
export const LivePiece = defineEntity({
  name: 'LivePiece',
  tableName: 'live_piece',
  properties: {
    sessionId: p.integer().primary(),
    sequence: p.integer().primary(),
    /** The connection that it came by. */
    generation: p.integer(),
    /** Number in the playlist, without the numbers that were left out; null in rows of the version before, which left out none. */
    position: p.integer().nullable(),
    /** In the session, up to this piece; null in rows of the version before. */
    discontinuities: p.integer().nullable(),
    seconds: p.double(),
    bytes: p.integer(),
    sha256: p.text(),
    startsAt: p.datetime(3),
    /** Its file is in the private folder. */
    isPrivate: p.boolean(),
  },
})

/** An encoded part of a stream, beside the piece that it was made from. */
export const LiveRenditionPiece = defineEntity({
  name: 'LiveRenditionPiece',
  tableName: 'live_rendition_piece',
  properties: {
    sessionId: p.integer().primary(),
    /** From 1, by the plan. */
    rendition: p.smallint().primary(),
    sequence: p.integer().primary(),
    /** Null for one that is left out: players skip it. */
    bytes: p.integer().nullable(),
    sha256: p.text().nullable(),
  },
})

/** An encoded part of a stream that a remote runner made. */
export const LiveRemotePiece = defineEntity({
  name: 'LiveRemotePiece',
  tableName: 'live_remote_piece',
  properties: {
    sessionId: p.integer().primary(),
    /** From 1, by the plan. */
    rendition: p.smallint().primary(),
    sequence: p.integer().primary(),
    /** The lease that it came by, from 1. */
    run: p.integer(),
    seconds: p.double(),
    startsAt: p.datetime(3),
    /** Null for one that has not come, although a later one has: players skip it. */
    bytes: p.integer().nullable(),
    sha256: p.text().nullable(),
    /** Its file is in the private folder. */
    isPrivate: p.boolean(),
  },
})
