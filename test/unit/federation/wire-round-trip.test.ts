// Every recorded document and delivery is read by the reader of its type, and built again. A recording without a reader fails: a new type
// needs a line in `TYPES`, and a file that is no document needs an entry in a list.

import { readdirSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import {
  buildAccept,
  buildActor,
  buildAnnounce,
  buildChapters,
  buildCollection,
  buildCollectionPage,
  buildCreate,
  buildDelete,
  buildDislike,
  buildFollow,
  buildLike,
  buildNote,
  buildReject,
  buildReplyApproval,
  buildTombstone,
  buildUndo,
  buildUpdate,
  buildVideo,
  type JsonObject,
  type Read,
  readAccept,
  readActivity,
  readActor,
  readAnnounce,
  readChapters,
  readCollection,
  readCreate,
  readDelete,
  readDislike,
  readFollow,
  readLike,
  readNote,
  readReject,
  readReplyApproval,
  readTombstone,
  readUndo,
  readUpdate,
  readVideo,
  withoutContext,
} from '../../../src/federation/wire/index.ts'
import { oracleProblems } from '../../support/peertube-oracle.ts'
import { RECORDINGS, recordedActivities, recordedFile, recordedObject } from './recordings.ts'

type Rebuild = (document: JsonObject) => JsonObject

function taken<T>(read: Read<T>): T {
  if (!read.ok) throw new Error(read.problem)
  return read.value
}

const actor: Rebuild = (document) => buildActor(taken(readActor(document)))
const answer =
  (read: typeof readAccept, build: typeof buildAccept): Rebuild =>
  (document) => {
    const { id, actor: by, follow } = taken(read(document))
    return build({
      id,
      actor: by,
      follow: { id: follow.id ?? '', actor: follow.actor ?? '', target: follow.target ?? '' },
    })
  }
const carrier =
  (read: typeof readCreate, build: typeof buildCreate): Rebuild =>
  (document) => {
    const { id, actor: by, object, to, cc } = taken(read(document))
    return build({ id, actor: by, to, cc, object: rebuilt(object.document ?? {}) })
  }
const review: Rebuild = (document) => buildReplyApproval(taken(readReplyApproval(document)))

/** How each type is read and built again. */
const TYPES: Record<string, Rebuild> = {
  Accept: answer(readAccept, buildAccept),
  Announce(document) {
    const announce = taken(readAnnounce(document))
    return buildAnnounce({ ...announce, target: announce.target.id ?? '' })
  },
  Application: actor,
  ApproveReply: review,
  Chapters: (document) => buildChapters(taken(readChapters(document))),
  Create: carrier(readCreate, buildCreate),
  Delete: (document) => buildDelete(taken(readDelete(document))),
  Dislike: (document) => buildDislike(taken(readDislike(document))),
  Follow: (document) => buildFollow(taken(readFollow(document))),
  Group: actor,
  Like: (document) => buildLike(taken(readLike(document))),
  Note: (document) => buildNote(taken(readNote(document))),
  OrderedCollection(document) {
    const { id, totalItems } = taken(readCollection(document))
    return buildCollection({ id, totalItems: totalItems ?? 0 })
  },
  OrderedCollectionPage(document) {
    const { id, partOf, totalItems, items } = taken(readCollection(document))
    const page = Number(new URL(id).searchParams.get('page'))
    return buildCollectionPage({ id: partOf ?? '', page, pageSize: PAGE_SIZE, totalItems: totalItems ?? 0, items })
  },
  Person: actor,
  Reject: answer(readReject, buildReject),
  RejectReply: review,
  Tombstone: (document) => buildTombstone(taken(readTombstone(document))),
  Undo(document) {
    const { id, actor: by, to, cc, undone } = taken(readUndo(document))
    return buildUndo({ id, actor: by, to, cc, undone: rebuilt(undone.document ?? {}) })
  },
  Update: carrier(readUpdate, buildUpdate),
  Video: (document) => buildVideo(taken(readVideo(document))),
}

/** Types without a reader so far, of which only the frame is read. Each type is here or above. */
const AWAITED = new Set(['CacheFile', 'Flag', 'Playlist', 'PlaylistElement', 'View', 'WatchAction'])

/** Origin of the recorded server. */
const PAGE_SIZE = 2

/** Recorded responses that are errors or no ActivityPub documents. */
const NO_DOCUMENTS = new Set([
  'account-any-accept',
  'account-html-accept',
  'account-json-accept',
  'account-unknown',
  'cache-file-streaming-playlist',
  'cache-file-web-video',
  'channel-outbox-page-0',
  'channel-outbox-page-bad',
  'comment-unknown',
  'document-nodeinfo-2-0-json',
  'document-well-known-host-meta',
  'document-well-known-nodeinfo',
  'live-master-playlist',
  'live-resolution-playlist',
  'live-rest-views',
  'live-segments-sha256',
  'playlist-private',
  'redundancy-rest-view',
  'redundancy-rest-view-of-the-holder',
  'redundancy-video-rest-view',
  'video-internal',
  'video-of-a-remote-server-on-the-remote-peer',
  'video-password',
  'video-private',
  'video-public-html',
  'video-unknown',
  'webfinger-account',
  'webfinger-channel',
  'webfinger-instance',
  'webfinger-unknown',
])
/** Files about deliveries without a delivery in this format; `raw-vectors` is for the tests of signatures. */
const NO_DELIVERIES = new Set(['inbox-treatment', 'index', 'raw-vectors', 'retry-behaviour'])
const INPUT = 'input-remote-video-hosted-by-the-recorder'

const namesIn = (folder: string): string[] => readdirSync(new URL(`${folder}/`, RECORDINGS)).map((name) => name.replace(/\.json$/, ''))

const typeOf = (document: JsonObject): string => (isChapters(document) ? 'Chapters' : String(document.type))
/** The chapters of a video have no type. */
const isChapters = (document: JsonObject): boolean => document.type === undefined && 'hasPart' in document

/** Whether some part of it has a type without a reader. */
function isAwaited(document: unknown): boolean {
  if (Array.isArray(document)) return document.some(isAwaited)
  if (typeof document !== 'object' || document === null) return false
  if ('type' in document && AWAITED.has(String(document.type))) return true
  return 'object' in document && isAwaited(document.object)
}

function rebuilt(document: JsonObject): JsonObject {
  const rebuild = TYPES[typeOf(document)]
  if (!rebuild) throw new Error(`No reader for the type ${typeOf(document)}.`)
  return rebuild(document)
}

/** Members to compare: contexts are compared elsewhere, and the reference repeats audience and context inside actors. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable)
  if (typeof value !== 'object' || value === null) return value
  const plain = withoutContext(value as JsonObject)
  const isActor = ['Person', 'Group', 'Application'].includes(String(plain.type)) && 'inbox' in plain
  return Object.fromEntries(
    Object.entries(plain)
      .filter(([name, one]) => !(isActor && (name === 'to' || name === 'cc')) && !isSaidNothing(plain, name, one))
      .map(([name, one]) => [name, comparable(one)]),
  )
}

/** The reference writes null where this server omits a member, and omits the audience of some Deletes. */
const isSaidNothing = (document: JsonObject, name: string, value: unknown): boolean =>
  (name === 'replyApproval' && value === null) ||
  (document.type === 'Delete' && ['to', 'cc'].includes(name) && Array.isArray(value) && value.length === 0)

function expectSame(recorded: JsonObject): void {
  if (isAwaited(recorded)) {
    expect(typeof recorded.id).toBe('string')
    return
  }
  const built = rebuilt(recorded)
  expect(comparable(built)).toEqual(comparable(recorded))
  // The reference requires a type of everything but chapters.
  if (!isChapters(built)) expect(oracleProblems(built)).toEqual([])
}

it('every type has a reader, or is listed as missing', () => {
  expect([...AWAITED].filter((type) => type in TYPES)).toEqual([])
})

describe('a recorded document survives a round trip', () => {
  it.each(namesIn('objects').filter((name) => !NO_DOCUMENTS.has(name)))('%s', (name) => {
    expectSame(recordedObject(name))
  })

  it("the recorder's video", () => {
    expectSame(recordedFile(`activities/${INPUT}`))
  })

  it('the lists of other files only name existing recordings', () => {
    const objects = new Set(namesIn('objects'))
    expect([...NO_DOCUMENTS].filter((name) => !objects.has(name))).toEqual([])
    const activities = new Set(namesIn('activities'))
    expect([...NO_DELIVERIES, INPUT].filter((name) => !activities.has(name))).toEqual([])
  })
})

describe('a recorded delivery survives a round trip', () => {
  const names = namesIn('activities').filter((name) => name !== INPUT && !NO_DELIVERIES.has(name))
  it.each(names)('%s', (name) => {
    for (const activity of recordedActivities(name)) {
      expect(taken(readActivity(activity)).id).toBe(activity.id)
      expectSame(activity)
    }
  })
})
