import { describe, expect, it } from '@jest/globals'
import {
  activitiesOf,
  buildAccept,
  buildActor,
  buildAnnounce,
  buildCacheFile,
  buildChapters,
  buildCollection,
  buildCollectionPage,
  buildCreate,
  buildDelete,
  buildDislike,
  buildFlag,
  buildFollow,
  buildHostMeta,
  buildLike,
  buildNodeInfo,
  buildNote,
  buildPlaylist,
  buildPlaylistElement,
  buildReject,
  buildReplyApproval,
  buildTombstone,
  buildUndo,
  buildUpdate,
  buildVideo,
  buildView,
  buildWatchAction,
  buildWebFinger,
  contextOf,
  type JsonObject,
  type Read,
  readAccept,
  readActivity,
  readActor,
  readAnnounce,
  readCacheFile,
  readChapters,
  readCollection,
  readCreate,
  readDelete,
  readDislike,
  readFlag,
  readFollow,
  readLike,
  readNodeInfo,
  readNodeInfoLinks,
  readNote,
  readPlaylist,
  readPlaylistElement,
  readReject,
  readReplyApproval,
  readTombstone,
  readUndo,
  readUpdate,
  readVideo,
  readView,
  readWatchAction,
  readWebFinger,
  withoutContext,
} from '../../../src/federation/wire/index.ts'
import { oracleProblems } from '../../support/peertube-oracle.ts'
import { allRecordedActivities, PEER, recordedActivities, recordedObject } from './recordings.ts'

function taken<T>(read: Read<T>): T {
  if (!read.ok) throw new Error(read.problem)
  return read.value
}

/** Everything but the context, which has more terms here. */
const plain = (document: JsonObject | undefined): JsonObject => withoutContext(document ?? {})

const first = (name: string): JsonObject => recordedActivities(name)[0] ?? {}

/** The embedded document of a built activity, built again by the same rules. */
function rebuilt(object: JsonObject): JsonObject {
  if (object.type === 'Video') return buildVideo(taken(readVideo(object)))
  if (object.type === 'Playlist') return buildPlaylist(taken(readPlaylist(object)))
  if (object.type === 'CacheFile') return buildCacheFile(taken(readCacheFile(object)))
  if (object.type === 'Note') return buildNote(taken(readNote(object)))
  return buildActor(taken(readActor(object)))
}

describe('a recorded document survives a round trip', () => {
  it.each(['video-public', 'video-live', 'video-live-streaming', 'video-unlisted'])('%s', (name) => {
    const recorded = recordedObject(name)
    const built = buildVideo(taken(readVideo(recorded)))
    expect(plain(built)).toEqual(plain(recorded))
    expect(built['@context']).toEqual(recorded['@context'])
    expect(oracleProblems(built)).toEqual([])
  })

  it.each(['account', 'channel', 'instance-actor'])('%s', (name) => {
    const recorded = recordedObject(name)
    const built = buildActor(taken(readActor(recorded)))
    expect(plain(built)).toEqual(plain(recorded))
    expect(built['@context']).toMatchObject(recorded['@context'] as object)
    expect(oracleProblems(built)).toEqual([])
  })

  it.each(['comment-thread', 'comment-reply'])('%s', (name) => {
    const recorded = recordedObject(name)
    const built = buildNote(taken(readNote(recorded)))
    expect(built).toEqual(recorded)
    expect(oracleProblems(built)).toEqual([])
  })

  it.each(['playlist', 'playlist-short-path'])('%s', (name) => {
    const recorded = recordedObject(name)
    const built = buildPlaylist(taken(readPlaylist(recorded)))
    expect(built).toEqual(recorded)
    expect(oracleProblems(built)).toEqual([])
  })

  it('a copy of a playlist', () => {
    const recorded = recordedObject('cache-file-streaming-playlist-numeric-type')
    const built = buildCacheFile(taken(readCacheFile(recorded)))
    expect(built).toEqual(recorded)
    expect(oracleProblems(built)).toEqual([])
  })

  it('a page of a playlist', () => {
    const recorded = recordedObject('playlist-page-1')
    const { partOf, items } = taken(readCollection(recorded))
    const playlist = { ...taken(readPlaylist(recorded)), id: partOf ?? '' }
    const built = buildPlaylist(playlist, { number: 1, size: 10, items: items.map(String) })
    expect(built).toEqual(recorded)
    expect(oracleProblems(built)).toEqual([])
  })

  it.each(['playlist-element-by-id', 'playlist-element-by-position'])('%s', (name) => {
    const recorded = recordedObject(name)
    const built = buildPlaylistElement(taken(readPlaylistElement(recorded)))
    expect(built).toEqual(recorded)
    expect(oracleProblems(built)).toEqual([])
  })

  it.each(['37-create-playlist', '41-create-playlist-by-privacy'])('%s', (name) => {
    const recorded = first(name)
    const { id, actor, object, to, cc } = taken(readCreate(recorded))
    const built = buildCreate({ id, actor, to, cc, object: rebuilt(object.document ?? {}) })
    expect(built).toEqual(recorded)
    expect(oracleProblems(built)).toEqual([])
  })

  it.each(['38-update-playlist-element-added', '39-update-playlist'])('%s', (name) => {
    const recorded = first(name)
    const { id, actor, object, to, cc } = taken(readUpdate(recorded))
    const built = buildUpdate({ id, actor, to, cc, object: rebuilt(object.document ?? {}) })
    expect(built).toEqual(recorded)
    expect(oracleProblems(built)).toEqual([])
  })

  it.each(['40-delete-playlist-by-privacy', '42-delete-playlist'])('%s', (name) => {
    const recorded = first(name)
    const { id, actor, target } = taken(readDelete(recorded))
    const built = buildDelete({ id, actor, target })
    expect(built).toEqual(recorded)
    expect(oracleProblems(built)).toEqual([])
  })

  it('the Create of a copy, and its Undo', () => {
    const creation = first('70-create-cache-file')
    const made = taken(readCreate(creation))
    const { id, actor, to, cc } = made
    const built = buildCreate({ id, actor, to, cc, object: rebuilt(made.object.document ?? {}) })
    expect(built).toEqual(creation)
    expect(oracleProblems(built)).toEqual([])

    const undo = first('71-undo-cache-file')
    const { undone, ...rest } = taken(readUndo(undo))
    const inside = taken(readCreate(undone.document))
    const undoneAgain = buildCreate({ ...inside, object: rebuilt(inside.object.document ?? {}) })
    const undoing = buildUndo({ ...rest, undone: undoneAgain })
    expect(undoing).toEqual(undo)
    expect(oracleProblems(undoing)).toEqual([])
  })

  it('a tombstone', () => {
    const recorded = recordedObject('comment-deleted-tombstone')
    const built = buildTombstone(taken(readTombstone(recorded)))
    expect(built).toEqual(recorded)
    expect(oracleProblems(built)).toEqual([])
  })

  it('the chapters of a video', () => {
    const recorded = recordedObject('video-chapters')
    expect(plain(buildChapters(taken(readChapters(recorded))))).toEqual(plain(recorded))
  })

  it('a like, a dislike and an announce', () => {
    const [like, dislike, announce] = ['like', 'dislike', 'announce'].map(recordedObject)
    expect(buildLike(taken(readLike(like)))).toEqual(like)
    expect(buildDislike(taken(readDislike(dislike)))).toEqual(dislike)
    const read = taken(readAnnounce(announce))
    expect(buildAnnounce({ ...read, target: read.target.id ?? '' })).toEqual(announce)
  })

  it('a follow, and the answers to it', () => {
    const follow = first('10-follow-of-a-server')
    expect(buildFollow(taken(readFollow(follow)))).toEqual(follow)
    for (const [name, read, build] of [
      ['01-accept-follow-of-instance-actor', readAccept, buildAccept],
      ['06-reject-follow', readReject, buildReject],
    ] as const) {
      const recorded = first(name)
      const { id, actor, follow: about } = taken(read(recorded))
      const built = build({
        id,
        actor,
        follow: { id: about.id ?? '', actor: about.actor ?? '', target: about.target ?? '' },
      })
      expect(built).toEqual(recorded)
      expect(oracleProblems(built)).toEqual([])
    }
  })

  it.each(['14-create-video', '24-create-note-reply', '54-create-live-video', '55-create-video-with-transcoding'])('%s', (name) => {
    const recorded = recordedActivities(name).find(({ type }) => type === 'Create')
    const { id, actor, object, to, cc } = taken(readCreate(recorded))
    const built = buildCreate({ id, actor, to, cc, object: rebuilt(object.document ?? {}) })
    expect(built).toEqual(recorded)
    expect(oracleProblems(built)).toEqual([])
  })

  it.each([
    '15-update-video',
    '16-update-video-caption-added',
    '17-update-video-caption-removed',
    '18-update-video-chapters',
    '19-update-video-thumbnail',
    '55-create-video-with-transcoding',
    '64-delete-hls-files',
    '73-live-started',
    '74-live-ended',
  ])('every update of %s', (name) => {
    const updates = recordedActivities(name).filter(({ type }) => type === 'Update')
    expect(updates.length).toBeGreaterThan(0)
    for (const recorded of updates) {
      const { id, actor, object, to, cc } = taken(readUpdate(recorded))
      const built = buildUpdate({ id, actor, to, cc, object: rebuilt(object.document ?? {}) })
      expect(built).toEqual(recorded)
      expect(oracleProblems(built)).toEqual([])
    }
  })

  it.each(['35-view', '59-view-of-a-remote-video'])('every view of %s', (name) => {
    const views = recordedActivities(name).filter(({ type }) => type === 'View')
    expect(views.length).toBeGreaterThan(0)
    for (const recorded of views) {
      const built = buildView(taken(readView(recorded)))
      expect(built).toEqual(recorded)
      expect(oracleProblems(built)).toEqual([])
    }
  })

  it('a watch action, and its Create', () => {
    const recorded = first('60-watch-action-of-a-remote-video')
    const { id, actor, object, to, cc } = taken(readCreate(recorded))
    const built = buildCreate({ id, actor, to, cc, object: buildWatchAction(taken(readWatchAction(object.document))) })
    expect(built).toEqual(recorded)
    expect(oracleProblems(built)).toEqual([])
  })

  it.each(['49-update-account-avatar', '51-update-channel-banner'])('%s', (name) => {
    const recorded = first(name)
    const { id, actor, object, to, cc } = taken(readUpdate(recorded))
    const built = buildUpdate({ id, actor, to, cc, object: rebuilt(object.document ?? {}) })
    // The reference repeats context and audience inside.
    const { to: _to, cc: _cc, ...inside } = withoutContext(recorded.object as JsonObject)
    expect(plain(built)).toEqual({ ...plain(recorded), object: inside })
    expect(oracleProblems(built)).toEqual([])
  })

  it.each(['27-delete-remote-note-by-video-owner', '65-delete-video', '68-delete-account'])('%s', (name) => {
    const recorded = recordedActivities(name).find(({ type, to }) => type === 'Delete' && to !== undefined)
    const built = buildDelete(taken(readDelete(recorded)))
    expect(built).toEqual(recorded)
    expect(oracleProblems(built)).toEqual([])
  })

  it.each(['12-undo-follow-of-a-remote-channel', '52-video-moved-to-another-channel', '57-undo-like-of-a-remote-video'])('%s', (name) => {
    const recorded = recordedActivities(name).find(({ type }) => type === 'Undo') ?? {}
    const { id, actor, to, cc, undone } = taken(readUndo(recorded))
    const built = buildUndo({ id, actor, to, cc, undone: undone.document ?? {} })
    expect(built).toEqual(recorded)
    expect(oracleProblems(built)).toEqual([])
  })

  it.each(['61-flag-video', '62-flag-account'])('%s', (name) => {
    const recorded = first(name)
    const built = buildFlag(taken(readFlag(recorded)))
    expect(plain(built)).toEqual(plain(recorded))
    expect(built['@context']).toEqual(first('62-flag-account')['@context'])
    expect(oracleProblems(built)).toEqual([])
  })

  it('the approval of a comment', () => {
    const recorded = recordedActivities('25-remote-note-received').find(({ type }) => type === 'ApproveReply')
    expect(buildReplyApproval(taken(readReplyApproval(recorded)))).toEqual(recorded)
  })

  it.each(['account-followers', 'account-outbox', 'channel-followers', 'video-likes'])('the collection %s', (name) => {
    const recorded = recordedObject(name)
    const { id, totalItems } = taken(readCollection(recorded))
    expect(buildCollection({ id, totalItems: totalItems ?? 0 })).toEqual(recorded)
  })

  it.each([
    ['account-followers-page-1', 1],
    ['channel-followers-page-1', 1],
    ['video-likes-page-1', 1],
    ['video-comments-page-1', 1],
    ['channel-outbox-page-1', 1],
    ['channel-outbox-page-2', 2],
    ['account-outbox-page-1', 1],
  ])('the page %s', (name, page) => {
    const recorded = recordedObject(name)
    const { partOf, totalItems, items } = taken(readCollection(recorded))
    const built = buildCollectionPage({
      id: partOf ?? '',
      page,
      pageSize: 2,
      totalItems: totalItems ?? 0,
      items,
    })
    expect(built).toEqual(recorded)
    expect(oracleProblems(built)).toEqual([])
  })

  it('WebFinger, NodeInfo and host-meta', () => {
    const webFinger = recordedObject('webfinger-account')
    const read = taken(readWebFinger(webFinger))
    expect(
      buildWebFinger({
        name: 'obj_user',
        host: 'peer.example',
        actor: read.actor,
        subscribeTemplate: read.subscribeTemplate ?? '',
      }),
    ).toEqual(webFinger)

    expect(taken(readNodeInfoLinks(recordedObject('document-well-known-nodeinfo')))).toEqual({
      nodeInfo: `${PEER}/nodeinfo/2.0.json`,
      instanceActor: `${PEER}/accounts/peertube`,
    })

    const info = recordedObject('document-nodeinfo-2-0-json')
    expect(taken(readNodeInfo(info))).toMatchObject({ software: 'peertube', version: '6.3.0', users: 3 })
    const { metadata } = info as { metadata: { nodeName: string; nodeDescription: string; nodeConfig: JsonObject } }
    expect(
      buildNodeInfo('2.0', {
        software: { name: 'peertube', version: '6.3.0', repository: '', homepage: '' },
        openRegistrations: true,
        users: { total: 3, activeMonth: 3, activeHalfyear: 3 },
        localPosts: 1,
        localComments: 3,
        ...metadata,
      }),
    ).toEqual(info)

    expect(buildHostMeta(`${PEER}/.well-known/webfinger?resource={uri}`)).toBe(recordedObject('document-well-known-host-meta'))
  })
})

describe('every recorded delivery', () => {
  it('has a valid frame', () => {
    const all = allRecordedActivities()
    expect(all.length).toBeGreaterThan(25)
    for (const activity of all) {
      const read = taken(readActivity(activity))
      expect(read.id).toBe(activity.id)
      expect(read.object).not.toBeNull()
    }
  })

  it('is found inside a bare collection', () => {
    const items = allRecordedActivities()
    expect(activitiesOf({ type: 'OrderedCollection', orderedItems: items })).toEqual({
      isCollection: true,
      activities: items,
    })
    expect(activitiesOf(items[0])).toEqual({ isCollection: false, activities: [items[0]] })
  })
})

it('has a context of the reference for its kind', () => {
  expect(contextOf('base')).toEqual(recordedObject('announce')['@context'])
  expect(contextOf('comment')).toEqual(recordedObject('comment-thread')['@context'])
  expect(contextOf('chapters')).toEqual(recordedObject('video-chapters')['@context'])
})
