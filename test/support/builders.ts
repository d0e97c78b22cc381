// Inserts test data by SQL: users with account and channel, remote actors, videos with files.

import type { Database } from '../../src/platform/database/index.ts'
import { newUuid } from '../../src/platform/ids.ts'

type Reader = Pick<Database, 'query'>

export const TEST_ORIGIN = 'http://localhost:9000'

export interface MadeUser {
  id: number
  username: string
  accountId: number
  actorId: number
  channelId: number
  channelActorId: number
}

let serial = 0
const next = (): number => {
  serial += 1
  return serial
}

/** A local user with an account and its default channel. */
export async function makeUser(
  db: Reader,
  options: { username?: string; role?: 0 | 1 | 2; nsfwPolicy?: string; origin?: string } = {},
): Promise<MadeUser> {
  const { username = `user${next()}`, role = 2, nsfwPolicy = 'display', origin = TEST_ORIGIN } = options
  const channelName = `${username}_channel`
  const account = actorRow({ type: 'Person', username, origin })
  const channel = actorRow({ type: 'Group', username: channelName, origin })
  const actor = Object.keys(account)
  // One statement, because some tests create hundreds of users.
  const [made] = await db.query<Omit<MadeUser, 'username'>>(
    `with made_user as (
       insert into users (username, role, password_hash, email, nsfw_policy)
       values ($1, $2, 'none', $1 || '@example.org', $3) returning id
     ), person as (
       insert into actor (${actor}) values (${actor.map((_, index) => `$${index + 4}`)}) returning id
     ), made_account as (
       insert into account (actor_id, user_id, name)
       select person.id, made_user.id, $1 from person, made_user returning id
     ), "group" as (
       insert into actor (${actor}) values (${actor.map((_, index) => `$${index + 4 + actor.length}`)}) returning id
     ), made_channel as (
       insert into channel (actor_id, account_id, name)
       select "group".id, made_account.id, $${4 + 2 * actor.length} from "group", made_account returning id
     )
     select made_user.id, made_account.id as "accountId", person.id as "actorId", made_channel.id as "channelId",
       "group".id as "channelActorId"
     from made_user, made_account, person, made_channel, "group"`,
    [username, role, nsfwPolicy, ...Object.values(account), ...Object.values(channel), `Main ${channelName} channel`],
  )
  if (!made) throw new Error('No user was made.')
  return { username, ...made }
}

/** A channel of an account: local, or of the remote host `hostId`. */
export async function makeChannel(
  db: Reader,
  options: { accountId: number; username?: string; name?: string; origin?: string; hostId?: number },
): Promise<{ id: number; actorId: number }> {
  const { accountId, username = `channel${next()}`, name = `Main ${username} channel`, origin = TEST_ORIGIN, hostId } = options
  const actorId = await makeActor(db, { type: 'Group', username, origin, hostId })
  return { id: await insert(db, 'channel', { actor_id: actorId, account_id: accountId, name }), actorId }
}

/** A remote account with a channel. */
export async function makeRemoteChannel(
  db: Reader,
  options: { host?: string; username?: string } = {},
): Promise<{ accountId: number; channelId: number; host: string }> {
  const { host = `remote${next()}.example`, username = `remote${next()}` } = options
  const [known] = await db.query<{ id: number }>('select id from remote_host where host = $1', [host])
  const hostId = known?.id ?? (await insert(db, 'remote_host', { host }))
  const origin = `https://${host}`
  const actorId = await makeActor(db, { type: 'Person', username, origin, hostId })
  const accountId = await insert(db, 'account', { actor_id: actorId, name: username })
  const channel = await makeChannel(db, { accountId, username: `${username}_channel`, origin, hostId })
  return { accountId, channelId: channel.id, host }
}

export interface VideoOptions {
  channelId: number
  /** Columns that override the defaults. */
  columns?: Record<string, unknown>
  /** Origin of the remote server; local when undefined. */
  remoteOrigin?: string
  passwords?: string[]
  /** Adds a web video file of this height, px. */
  webVideo?: { resolution: number; filename?: string; fileUrl?: string }
  /** Adds an HLS playlist with this rendition. */
  hls?: { resolution: number; playlistUrl?: string }
  /** Omits the thumbnail and the preview. */
  bare?: boolean
}

export interface MadeVideo {
  id: number
  uuid: string
  url: string
  webVideo?: { id: number; filename: string }
  hls?: { id: number; master: string; playlist: string; fragmented: string; sha256: string }
  thumbnail: string
  preview: string
}

/** A published public video, unless the options say otherwise. */
export async function makeVideo(db: Reader, options: VideoOptions): Promise<MadeVideo> {
  const { channelId, columns = {}, remoteOrigin, passwords = [] } = options
  const uuid = typeof columns.uuid === 'string' ? columns.uuid : newUuid()
  const url = `${remoteOrigin ?? TEST_ORIGIN}/videos/watch/${uuid}`
  const id = await insert(db, 'video', {
    uuid,
    channel_id: channelId,
    url,
    remote: remoteOrigin !== undefined,
    name: `video ${next()}`,
    privacy: 1,
    state: 'published',
    duration: 3,
    aspect_ratio: 1.3333,
    ...columns,
  })
  for (const password of passwords) await insert(db, 'video_password', { video_id: id, password })
  const made: MadeVideo = { id, uuid, url, thumbnail: `${newUuid()}.jpg`, preview: `${newUuid()}.jpg` }
  if (!options.bare) await addPictures(db, made, remoteOrigin)
  if (options.webVideo) made.webVideo = await addWebVideo(db, id, options.webVideo)
  if (options.hls) made.hls = await addHls(db, id, options.hls)
  return made
}

async function addPictures(db: Reader, video: MadeVideo, origin: string | undefined): Promise<void> {
  const pictures = [
    { type: 1, filename: video.thumbnail, width: 280, height: 157 },
    { type: 2, filename: video.preview, width: 850, height: 480 },
  ]
  for (const picture of pictures) {
    const remote = origin ? { file_url: `${origin}/pictures/${picture.filename}`, on_disk: false } : {}
    await insert(db, 'thumbnail', { video_id: video.id, ...picture, ...remote })
  }
}

const file = (videoId: number, resolution: number) => ({
  video_id: videoId,
  resolution,
  width: 320,
  height: 240,
  size: 30175,
  extname: '.mp4',
  fps: 15,
  streams: 3,
  metadata: JSON.stringify({ format: { size: 30175 }, streams: [], chapters: [] }),
})

async function addWebVideo(db: Reader, videoId: number, wanted: NonNullable<VideoOptions['webVideo']>) {
  const { resolution, filename = `${newUuid()}-${resolution}.mp4`, fileUrl } = wanted
  const place = fileUrl ? { file_url: fileUrl } : { filename }
  return { id: await insert(db, 'video_file', { ...file(videoId, resolution), ...place }), filename }
}

async function addHls(db: Reader, videoId: number, { resolution, playlistUrl }: NonNullable<VideoOptions['hls']>) {
  const stem = newUuid()
  const [master, sha256] = [`${stem}-master.m3u8`, `${stem}-segments-sha256.json`]
  const [playlist, fragmented] = [`${stem}-${resolution}.m3u8`, `${stem}-${resolution}-fragmented.mp4`]
  const id = await insert(db, 'streaming_playlist', {
    video_id: videoId,
    ...(playlistUrl
      ? { playlist_url: playlistUrl, segments_sha256_url: `${playlistUrl}.json` }
      : { playlist_filename: master, segments_sha256_filename: sha256 }),
  })
  const place = playlistUrl ? { file_url: new URL(fragmented, playlistUrl).href } : { filename: fragmented }
  await insert(db, 'video_file', {
    ...file(videoId, resolution),
    ...place,
    streaming_playlist_id: id,
    playlist_filename: playlist,
    format_flags: 2,
  })
  return { id, master, playlist, fragmented, sha256 }
}

const makeActor = (db: Reader, options: ActorOptions): Promise<number> => insert(db, 'actor', actorRow(options))

interface ActorOptions {
  type: string
  username: string
  origin: string
  hostId?: number | undefined
}

function actorRow({ type, username, origin, hostId }: ActorOptions): Record<string, unknown> {
  const url = `${origin}/${type === 'Group' ? 'video-channels' : 'accounts'}/${username}`
  return { type, preferred_username: username, host_id: hostId ?? null, url, inbox_url: `${url}/inbox` }
}

export async function insert(db: Reader, table: string, row: Record<string, unknown>): Promise<number> {
  const names = Object.keys(row)
  const places = names.map((_, index) => `$${index + 1}`)
  const [stored] = await db.query<{ id: number }>(
    `insert into ${table} (${names.join(', ')}) values (${places.join(', ')}) returning id`,
    Object.values(row),
  )
  if (!stored) throw new Error(`No row came into ${table}.`)
  return stored.id
}
