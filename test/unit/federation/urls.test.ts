import { describe, expect, it } from '@jest/globals'
import { makeUrls, type ParsedAddress } from '../../../src/federation/urls.ts'

const urls = makeUrls('https://video.example')
const UUID = '38df085d-b9c2-4569-a00e-9ebdb8ced88d'
const WHEN = new Date('2026-11-20T19:02:17.158Z')
const ann = urls.account('ann')
const chan = urls.channel('ann_channel')

describe('every URL is built like by the reference, and parsed back', () => {
  it.each<[string, string, Partial<ParsedAddress>]>([
    [urls.instance, '/accounts/peertube', { kind: 'account', name: 'peertube' } as const],
    [ann, '/accounts/ann', { kind: 'account', name: 'ann' } as const],
    [chan, '/video-channels/ann_channel', { kind: 'channel', name: 'ann_channel' } as const],
    [urls.sharedInbox, '/inbox', { kind: 'shared-inbox' }],
    [
      urls.actorCollection(chan, 'followers'),
      '/video-channels/ann_channel/followers',
      { kind: 'actor-collection', owner: 'channel', name: 'ann_channel', collection: 'followers' } as const,
    ],
    [urls.video(UUID), `/videos/watch/${UUID}`, { kind: 'video', uuid: UUID }],
    [
      urls.videoCollection(UUID, 'announces'),
      `/videos/watch/${UUID}/announces`,
      { kind: 'video-collection', uuid: UUID, collection: 'announces' },
    ],
    [urls.comment(UUID, 5), `/videos/watch/${UUID}/comments/5`, { kind: 'comment', uuid: UUID, id: '5' }],
    [
      urls.commentApproval(urls.comment(UUID, 5)),
      `/videos/watch/${UUID}/comments/5/approve-reply`,
      { kind: 'comment-approval', uuid: UUID, id: '5' },
    ],
    [urls.announce(urls.video(UUID), 10), `/videos/watch/${UUID}/announces/10`, { kind: 'announce', uuid: UUID, actorId: '10' }],
    [urls.like(ann, 7), '/accounts/ann/likes/7', { kind: 'rate', owner: 'account', name: 'ann', rating: 'like', videoId: '7' }],
    [urls.dislike(ann, 7), '/accounts/ann/dislikes/7', { kind: 'rate', owner: 'account', name: 'ann', rating: 'dislike', videoId: '7' }],
    [urls.follow(ann, 12), '/accounts/ann/follows/12', { kind: 'follow', owner: 'account', name: 'ann', id: '12' }],
    [
      urls.view(urls.instance, 7, `${'a'.repeat(64)}-${UUID}`),
      `/accounts/peertube/views/videos/7/${'a'.repeat(64)}-${UUID}`,
      { kind: 'view', owner: 'account', name: 'peertube', videoId: '7', viewerId: `${'a'.repeat(64)}-${UUID}` },
    ],
    [urls.acceptFollow(3), '/accepts/follows/3', { kind: 'accept', id: '3' }],
    [urls.rejectFollow(WHEN), '/rejects/follows/2026-11-20T19:02:17.158Z', { kind: 'reject', date: '2026-11-20T19:02:17.158Z' }],
    [
      urls.followerSynchronization(ann),
      '/accounts/ann/followers_synchronization',
      { kind: 'follower-synchronization', owner: 'account', name: 'ann' },
    ],
    [urls.report(1), '/admin/abuses/1', { kind: 'report', id: '1' }],
    [urls.watchAction(UUID), `/videos/local-viewer/${UUID}`, { kind: 'watch-action', uuid: UUID }],
    [urls.playlist(UUID), `/video-playlists/${UUID}`, { kind: 'playlist', uuid: UUID }],
    [urls.playlistElement(UUID, 2), `/video-playlists/${UUID}/videos/2`, { kind: 'playlist-element', uuid: UUID, id: '2' }],
    [
      urls.fileRedundancy({ uuid: UUID, resolution: 240, fps: 20 }),
      `/redundancy/videos/${UUID}/240-20`,
      { kind: 'file-redundancy', uuid: UUID, resolution: '240', fps: '20' },
    ],
    [
      urls.fileRedundancy({ uuid: UUID, resolution: 720 }),
      `/redundancy/videos/${UUID}/720`,
      { kind: 'file-redundancy', uuid: UUID, resolution: '720', fps: null },
    ],
    [urls.playlistRedundancy(UUID), `/redundancy/streaming-playlists/hls/${UUID}`, { kind: 'playlist-redundancy', uuid: UUID }],
  ])('%s', (url, path, expected) => {
    expect(url).toBe(`https://video.example${path}`)
    expect(urls.parse(url)).toEqual({ ...expected, activity: null })
  })

  it('derived activities are distinguished from their objects', () => {
    const video = urls.video(UUID)
    expect(urls.parse(urls.createOf(video))).toEqual({ kind: 'video', uuid: UUID, activity: 'create' })
    expect(urls.parse(urls.deleteOf(video))).toEqual({ kind: 'video', uuid: UUID, activity: 'delete' })
    expect(urls.parse(urls.updateOf(video, WHEN))).toEqual({ kind: 'video', uuid: UUID, activity: 'update' })
    expect(urls.parse(urls.undoOf(urls.announce(video, 10)))).toEqual({
      kind: 'announce',
      uuid: UUID,
      actorId: '10',
      activity: 'undo',
    })
    expect(urls.parse(urls.createOf(urls.comment(UUID, 1)))).toMatchObject({ kind: 'comment', activity: 'create' })
  })

  it('an origin may have a port, and may use http', () => {
    const local = makeUrls('http://127.0.0.1:9000/')
    expect(local.video(UUID)).toBe(`http://127.0.0.1:9000/videos/watch/${UUID}`)
    expect(local.parse(local.account('ann'))).toMatchObject({ kind: 'account', name: 'ann' })
    expect(local.publicKey(local.account('ann'))).toBe('http://127.0.0.1:9000/accounts/ann#main-key')
    expect(local.isLocal('http://127.0.0.1:9001/accounts/ann')).toBe(false)
  })

  it('a fragment and a query are ignored', () => {
    expect(urls.parse(`${ann}#main-key`)).toMatchObject({ kind: 'account', name: 'ann' })
    expect(urls.parse(`${ann}/outbox?page=2`)).toMatchObject({ kind: 'actor-collection', collection: 'outbox' })
  })
})

describe('foreign URLs are not parsed', () => {
  it.each([
    'https://other.example/accounts/ann',
    'http://video.example/accounts/ann',
    'https://video.example:444/accounts/ann',
    'https://video.example.evil.example/accounts/ann',
    'https://video.example@evil.example/accounts/ann',
    'https://ann@video.example/accounts/ann',
    'https://video.example/accounts/',
    'https://video.example/accounts/a%2Fb',
    'https://video.example/accounts/ann/friends',
    'https://video.example/accounts/ann/likes/x',
    'https://video.example/videos/watch/not-a-uuid',
    `https://video.example/videos/watch/${UUID}/comments/1;drop`,
    `https://video.example/videos/watch/${'-'.repeat(36)}`,
    'https://video.example/',
    'acct:ann@video.example',
    'nonsense',
    '',
    `https://video.example/accounts/${'a'.repeat(3000)}`,
  ])('a URL of another server, or an invalid one (%#)', (url) => {
    expect(urls.parse(url)).toBeUndefined()
  })
})
