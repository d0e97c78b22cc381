// Every way in which a URL of another server makes a node send a request; each resolves once the node has given up.

import { expect } from '@jest/globals'
import { newUuid } from '../../src/platform/ids.ts'
import { makeVideo } from '../support/builders.ts'
import { type PeerActor, post } from '../support/fake-peer.ts'
import { peerKeys } from '../support/fast-crypto.ts'
import { until } from '../support/until.ts'
import type { FederatedNode } from './support.ts'

/** `base` is the origin of all requested URLs, `host` its host. */
export type Way = [name: string, ask: (base: string, host: string) => Promise<void>]

export function outgoingRequests(nodeOf: () => FederatedNode): Way[] {
  let serial = 0
  const query = <Row extends object>(text: string, values: readonly unknown[] = []) => nodeOf().query<Row>(text, [...values])

  /** A remote channel whose URLs are all below this base. */
  async function remoteChannel(base: string): Promise<{ id: number; actorId: number; handle: string }> {
    serial += 1
    const name = `channel_${serial}`
    const [actor] = await query<{ id: number }>(
      `with host as (
         insert into remote_host (host) values ($1) on conflict (host) do update set host = excluded.host returning id
       ) insert into actor (type, preferred_username, host_id, url, inbox_url, outbox_url, refreshed_at)
       select 'Group', $2, id, $3, $3 || '/inbox', $3 || '/outbox', now() from host returning id`,
      [`host-${serial}.example`, name, `${base}/video-channels/${name}`],
    )
    const [channel] = await query<{ id: number }>(
      'insert into channel (actor_id, account_id, name) select $1, min(id), $2 from account returning id',
      [actor?.id, name],
    )
    return { id: channel?.id ?? 0, actorId: actor?.id ?? 0, handle: `${name}@host-${serial}.example` }
  }

  const video = async (base: string, more: Partial<Parameters<typeof makeVideo>[1]> = {}) =>
    await makeVideo({ query }, { channelId: (await remoteChannel(base)).id, remoteOrigin: base, ...more })

  const search = async (what: string, text: string) =>
    expect(await nodeOf().client.get<{ total: number }>(`/api/v1/search/${what}?search=${encodeURIComponent(text)}`)).toMatchObject({
      total: 0,
    })

  const picture = async (folder: string, filename: string) =>
    expect((await fetch(`${nodeOf().base}/lazy-static/${folder}/${filename}`)).status).toBeGreaterThanOrEqual(400)

  /** A job like its noun creates it, until its first attempt is over. */
  async function job(type: string, data: Record<string, number>, queue = 'io'): Promise<void> {
    const [made] = await query<{ id: string }>('insert into job (type, queue, data) values ($1, $2, $3::jsonb) returning id', [
      type,
      queue,
      JSON.stringify(data),
    ])
    await until(
      async () => (await query("select 1 from job where id = $1 and (finished_at is not null or state = 'delayed')", [made?.id]))[0],
      { what: `the end of ${type}` },
    )
  }

  async function mirrored(videoId: number): Promise<void> {
    await nodeOf().client.send('POST', '/api/v1/server/redundancy/videos', { videoId })
    await until(
      async () =>
        (
          await query(
            `select 1 from job where type = 'video-redundancy' and (finished_at is not null or failures > 0)
               and (data->>'redundancyId')::int in (select id from redundancy where video_id = $1)
             union all select 1 where not exists (select 1 from redundancy where video_id = $1)`,
            [videoId],
          )
        )[0],
      { what: 'the end of the download' },
    )
  }

  async function actorPicture(base: string, type: 1 | 2): Promise<void> {
    const { actorId } = await remoteChannel(base)
    const name = `${newUuid()}.jpg`
    await query('insert into actor_image (actor_id, type, filename, file_url) values ($1, $2, $3, $4)', [
      actorId,
      type,
      name,
      `${base}/a.jpg`,
    ])
    await picture(type === 1 ? 'avatars' : 'banners', name)
  }

  async function playlist(base: string): Promise<{ id: number; picture: string }> {
    const { id: channelId } = await remoteChannel(base)
    const [uuid, name] = [newUuid(), `${newUuid()}.jpg`]
    const [made] = await query<{ id: number }>(
      `insert into playlist (uuid, account_id, channel_id, remote, url, name, type, privacy, thumbnail_filename, thumbnail_url)
       select $1, account_id, id, true, $3, 'Of others', 1, 1, $4, $5 from channel where id = $2 returning id`,
      [uuid, channelId, `${base}/video-playlists/${uuid}`, name, `${base}/p.jpg`],
    )
    return { id: made?.id ?? 0, picture: name }
  }

  return [
    ['a video', (base) => search('videos', `${base}/videos/watch/x`)],
    ['an actor', (base) => search('video-channels', `${base}/x`)],
    ['a playlist', (base) => search('video-playlists', `${base}/video-playlists/${newUuid()}`)],
    [
      'the handle of a visitor who subscribes',
      async (_base, host) => {
        const body = new URLSearchParams({ kind: 'account', actor: 'root', handle: `x@${host}` })
        const headers = { accept: 'text/html', origin: nodeOf().base }
        const answer = await fetch(`${nodeOf().base}/remote-subscribe`, { method: 'POST', body, headers })
        expect(answer.status).toBeGreaterThanOrEqual(400)
      },
    ],
    ['WebFinger', (_base, host) => search('video-channels', `x@${host}`)],
    [
      'node information',
      async (_base, host) => {
        const [row] = await query<{ id: number }>(
          'insert into remote_host (host) values ($1) on conflict (host) do update set host = excluded.host returning id',
          [host],
        )
        await job('host-software', { hostId: row?.id ?? 0 })
      },
    ],
    [
      'a key',
      async (base) => {
        serial += 1
        const url = `${base}/accounts/a${serial}`
        const by: PeerActor = { url, keyId: `${url}#main-key`, keys: await peerKeys(), document: {} }
        const activity = { id: `${url}/1`, type: 'Follow', actor: url, object: nodeOf().instance }
        await post(nodeOf(), by, activity)
        await nodeOf().settled()
      },
    ],
    [
      'a context',
      async (base) => {
        serial += 1
        const url = `${base}/accounts/a${serial}`
        const by: PeerActor = { url, keyId: `${url}#main-key`, keys: await peerKeys(), document: {} }
        const activity = { id: `${url}/1`, type: 'Like', actor: url, object: nodeOf().instance }
        await post(nodeOf(), by, { '@context': `${base}/context`, ...activity })
        await nodeOf().settled()
      },
    ],
    ['an avatar', (base) => actorPicture(base, 1)],
    ['a banner', (base) => actorPicture(base, 2)],
    ['a thumbnail', async (base) => picture('thumbnails', (await video(base)).thumbnail)],
    ['a preview', async (base) => picture('previews', (await video(base)).preview)],
    ['the picture of a playlist', async (base) => picture('thumbnails', (await playlist(base)).picture)],
    [
      'a caption',
      async (base) => {
        const name = `${newUuid()}-en.vtt`
        await query('insert into video_caption (video_id, language, filename, file_url) values ($1, $2, $3, $4)', [
          (await video(base)).id,
          'en',
          name,
          `${base}/en.vtt`,
        ])
        await picture('video-captions', name)
      },
    ],
    [
      'a storyboard',
      async (base) => {
        const name = `${newUuid()}.jpg`
        await query(
          `insert into storyboard (video_id, filename, file_url, total_width, total_height, sprite_width, sprite_height,
             sprite_duration) values ($1, $2, $3, 10, 10, 1, 1, 1)`,
          [(await video(base)).id, name, `${base}/s.jpg`],
        )
        await picture('storyboards', name)
      },
    ],
    [
      'chapters',
      async (base) => {
        const columns = { chapters_url: `${base}/chapters`, chapters_wanted_at: new Date() }
        await job('remote-chapters', { videoId: (await video(base, { columns })).id })
      },
    ],
    [
      'the followers of an actor',
      async (base) => {
        const { actorId } = await remoteChannel(base)
        await query('update actor set followers_url = $2 where id = $1', [actorId, `${base}/followers`])
        await job('remote-followers', { actorId })
      },
    ],
    ['the comments of a video', async (base) => job('comments-refresh', { videoId: (await video(base)).id })],
    ['what is in a playlist', async (base) => job('playlist-reading', { playlistId: (await playlist(base)).id })],
    ['an HLS playlist', async (base) => mirrored((await video(base, { hls: { resolution: 240, playlistUrl: `${base}/m.m3u8` } })).id)],
    ['the file of a video', async (base) => mirrored((await video(base, { webVideo: { resolution: 240, fileUrl: `${base}/v.mp4` } })).id)],
    [
      'an outbox',
      async (base) => {
        const { actorId } = await remoteChannel(base)
        await query(
          `insert into follow (follower_id, target_id, state)
           select id, $1, 'accepted' from actor where host_id is null and type = 'Application'`,
          [actorId],
        )
        await query(
          `insert into history_walk (actor_id, state, next_url, since, due_at)
           select id, 'waiting', outbox_url, now(), now() from actor where id = $1`,
          [actorId],
        )
        await until(
          async () => (await query("select 1 from history_walk where actor_id = $1 and state in ('failed', 'retrying')", [actorId]))[0],
          { what: 'the end of the walk' },
        )
      },
    ],
    [
      'a delivery',
      async (base) => {
        const { actorId, handle } = await remoteChannel(base)
        await nodeOf().client.send('POST', '/api/v1/users/me/subscriptions', { uri: handle })
        await until(
          async () =>
            (
              await query(
                `select 1 from delivery d join actor a on a.inbox_url = d.inbox_url where a.id = $1
                   and (d.error is not null or d.state <> 'waiting'
                     or exists (select 1 from remote_host h where h.id = d.host_id and h.state <> 'healthy'))`,
                [actorId],
              )
            )[0],
          { what: 'the end of the delivery' },
        )
      },
    ],
  ]
}
