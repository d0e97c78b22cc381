// The users of the route matrix, each with a session, and builders of the objects of requests.

import { hlsFile, type Store, webVideoFile } from '../../../src/media/index.ts'
import type { Database } from '../../../src/platform/database/index.ts'
import { newUuid, randomToken, sha256 } from '../../../src/platform/ids.ts'
import { makePasswords } from '../../../src/platform/passwords.ts'
import { insert, type MadeUser, type MadeVideo, makeRemoteChannel, makeUser, makeVideo, type VideoOptions } from '../../support/builders.ts'
import type { Caller } from './caller.ts'

export type Person = Exclude<Caller, 'anonymous'>

export interface RouteTarget {
  db: Pick<Database, 'query'>
  store: Store
  /** The listening and public address of the server. */
  base: string
}

export interface RouteFixtures extends RouteTarget {
  users: Record<Person, MadeUser>
  /** Tokens of a new session. */
  session(person: Person): Promise<{ access: string; refresh: string }>
  /** The id and secret of the server's own OAuth client. */
  client(): Promise<{ client_id: string; client_secret: string }>
  /** A request by the test itself, as one of the callers. */
  send(caller: Caller, path: string, init: RequestInit): Promise<Response>
  /** Sets `PASSWORD` as the password of a person. */
  usesPassword(person: Person): Promise<void>
  /** The id of a user with this role that no other row uses. */
  bystander(role: 0 | 1 | 2): Promise<number>
  /** The id of a registration request. */
  registration(): Promise<number>
  /** A published public video of `user`, unless `columns` say otherwise. */
  video(columns?: Record<string, unknown>): Promise<MadeVideo>
  /** The caller; the owner instead of a visitor, whose request must otherwise be valid. */
  callerOrOwner(caller: Caller): MadeUser
  /** A public playlist of `user` in their channel with an own video in it, unless `columns` say otherwise. */
  playlist(columns?: Record<string, unknown>): Promise<{ id: number; uuid: string; elementId: number }>
  /** A comment by `user` on a video of `admin`, or of `user` if it is pending review. */
  comment(options?: { isHeld: boolean }): Promise<{ id: number; video: MadeVideo }>
  /** A web video and an HLS playlist of `user`, with files. */
  videoWithFiles(options: { isPrivate: boolean }): Promise<Required<MadeVideo>>
  /** A stored picture of this kind. */
  picture(kind: 'avatars' | 'torrents'): Promise<string>
  /** A video of `user` with a French caption, a storyboard and a chapter, with files. */
  videoWithParts(options: { isPrivate: boolean }): Promise<MadeVideo & { caption: string; storyboard: string }>
  /** The id of an application token of `user`. */
  applicationToken(): Promise<number>
  /** The handle of a follower of the instance. */
  follower(): Promise<string>
  /** The host of a followed server. */
  followed(): Promise<string>
  /** The id of a parked activity. */
  parkedActivity(): Promise<number>
}

const PRIVATE = 3
export const PASSWORD = 'a password of the fixtures'

let hashed: Promise<string> | undefined
const passwordHash = (): Promise<string> => {
  hashed ??= makePasswords().hash(PASSWORD)
  return hashed
}
const ROLES = { user: 2, other: 2, moderator: 1, admin: 0, blocked: 2 } as const

/** Separate users for each row, so that rows do not affect each other. */
export async function makeRouteFixtures(stage: RouteTarget): Promise<RouteFixtures> {
  const { db, store, base } = stage
  const made = await Promise.all(
    Object.entries(ROLES).map(async ([name, role]) => [name, await makeUser(db, { role, origin: base })] as const),
  )
  const users = Object.fromEntries(made) as Record<Person, MadeUser>
  await db.query("update users set state = 'blocked' where id = $1", [users.blocked.id])
  // Key generation is slow: all users share the keys of the instance.
  await db.query(
    `update actor set public_key_pem = us.public_key_pem, private_key_sealed = us.private_key_sealed,
       ed25519_public = us.ed25519_public, ed25519_private_sealed = us.ed25519_private_sealed
     from actor us where us.type = 'Application' and us.host_id is null and actor.id = any($1)`,
    [Object.values(users).flatMap(({ actorId, channelActorId }) => [actorId, channelActorId])],
  )

  /** Tokens for requests by the test itself. */
  const tokens = new Map<Person, Promise<string>>()
  const tokenOf = (person: Person): Promise<string> => {
    const token = tokens.get(person) ?? fixtures.session(person).then(({ access }) => access)
    tokens.set(person, token)
    return token
  }

  const fixtures: RouteFixtures = {
    ...stage,
    users,

    async session(person) {
      const [access, refresh] = [randomToken(20), randomToken(20)]
      await db.query(
        `insert into session (user_id, client_id, access_token_hash, access_expires_at, refresh_token_hash, refresh_expires_at)
         select $1, min(id), $2, now() + interval '1 hour', $3, now() + interval '1 hour' from oauth_client`,
        [users[person].id, sha256(access), sha256(refresh)],
      )
      return { access, refresh }
    },

    async client() {
      const [client] = await db.query<{ client_id: string; client_secret: string }>(
        'select client_id, client_secret from oauth_client order by id limit 1',
      )
      if (!client) throw new Error('The server has no client.')
      return client
    },

    async usesPassword(person) {
      await db.query('update users set password_hash = $2 where id = $1', [users[person].id, await passwordHash()])
    },

    async applicationToken() {
      const [row] = await db.query<{ id: number }>(
        `insert into application_token (user_id, token_hash, name, scopes, expires_at, created_at)
         values ($1, $2, 'A script', '{read}', now() + interval '1 day', now()) returning id`,
        [users.user.id, sha256(randomToken(20))],
      )
      return row?.id ?? 0
    },

    bystander: async (role) => (await makeUser(db, { role, origin: base })).id,

    async registration() {
      const name = `asks_${randomToken(4)}`
      const [row] = await db.query<{ id: number }>(
        `insert into registration (state, context, username, password_hash, email, registration_reason)
         values ('requested', $1, $2, $3, $2 || '@example.org', 'I want to') returning id`,
        [JSON.stringify({ emailVerified: null }), name, await passwordHash()],
      )
      return row?.id ?? 0
    },

    async send(caller, path, init) {
      const headers = new Headers(init.headers)
      if (caller !== 'anonymous') headers.set('authorization', `Bearer ${await tokenOf(caller)}`)
      return await fetch(new URL(path, base), { redirect: 'manual', ...init, headers })
    },

    callerOrOwner: (caller) => users[caller === 'anonymous' ? 'user' : caller],

    video: (columns = {}) => videoOf('user', { columns }),

    async comment({ isHeld } = { isHeld: false }) {
      const video = await videoOf(isHeld ? 'user' : 'admin')
      const [row] = await db.query<{ id: number }>(
        `insert into comment (video_id, account_id, url, text, held_for_review)
         values ($1, $2, $3, 'A comment', $4) returning id`,
        [video.id, users.user.accountId, `${video.url}/comments/${newUuid()}`, isHeld],
      )
      return { id: row?.id ?? 0, video }
    },

    async playlist(columns = {}) {
      const uuid = newUuid()
      const { user } = users
      const id = await insert(db, 'playlist', {
        uuid,
        url: `${base}/video-playlists/${uuid}`,
        name: 'A playlist',
        type: 1,
        privacy: 1,
        elements_count: 1,
        account_id: user.accountId,
        channel_id: user.channelId,
        ...columns,
      })
      const video = await videoOf('user')
      const elementId = await insert(db, 'playlist_element', { playlist_id: id, video_id: video.id, position: 1 })
      return { id, uuid, elementId }
    },

    async videoWithFiles({ isPrivate }) {
      const video = await videoOf('user', {
        columns: isPrivate ? { privacy: PRIVATE } : {},
        webVideo: { resolution: 240 },
        hls: { resolution: 240 },
      })
      const { webVideo, hls } = video
      if (!webVideo || !hls) throw new Error('The video has no files.')
      await store.put(webVideoFile(webVideo.filename, isPrivate), Buffer.from('a web video'))
      await store.put(hlsFile(video.uuid, hls.fragmented, isPrivate), Buffer.from('a fragmented video'))
      return { ...video, webVideo, hls }
    },

    async videoWithParts({ isPrivate }) {
      const video = await videoOf('user', { columns: isPrivate ? { privacy: PRIVATE } : {} })
      const [caption, storyboard] = [`${newUuid()}-fr.vtt`, `${newUuid()}.jpg`]
      await store.put({ kind: 'captions', name: caption }, Buffer.from('WEBVTT'))
      await store.put({ kind: 'storyboards', name: storyboard }, Buffer.from('a picture'))
      await db.query("insert into video_caption (video_id, language, filename) values ($1, 'fr', $2)", [video.id, caption])
      await db.query("insert into video_chapter (video_id, timecode, title) values ($1, 0, 'The start')", [video.id])
      await db.query(
        `insert into storyboard (video_id, filename, total_width, total_height, sprite_width, sprite_height, sprite_duration)
         values ($1, $2, 576, 144, 192, 144, 1)`,
        [video.id, storyboard],
      )
      return { ...video, caption, storyboard }
    },

    async picture(kind) {
      const name = `${newUuid()}.jpg`
      await store.put({ kind, name }, Buffer.from('a picture'))
      return name
    },

    follower: async () => `peertube@${await followOf('them')}`,
    followed: () => followOf('us'),
    async parkedActivity() {
      const actor = `https://${newUuid()}.example/accounts/somebody`
      const [row] = await db.query<{ id: number }>(
        `insert into incoming_activity (activity_id, type, actor_url, host, body, body_hash, said_at, state, error)
         values ($1, 'Like', $2, $3, '{}', md5('{}')::uuid, now(), 'parked', 'A bug.') returning id`,
        [`${actor}/likes/1`, actor, new URL(actor).host],
      )
      return row?.id ?? 0
    },
  }
  return fixtures

  async function videoOf(owner: Person, options: Omit<VideoOptions, 'channelId'> = {}): Promise<MadeVideo> {
    const uuid = newUuid()
    const columns = { uuid, url: `${base}/videos/watch/${uuid}`, ...options.columns }
    return await makeVideo(db, { ...options, channelId: users[owner].channelId, columns })
  }

  async function followOf(by: 'us' | 'them'): Promise<string> {
    const { host } = await makeRemoteChannel(db, { username: 'peertube', host: `${newUuid()}.example` })
    await db.query(
      `update actor set type = 'Application' from remote_host h where h.id = actor.host_id and h.host = $1
         and actor.type = 'Person'`,
      [host],
    )
    await db.query(
      `insert into follow (follower_id, target_id, state, context)
       select ${by === 'us' ? 'us.id, them.id' : 'them.id, us.id'}, 'pending', $2
       from actor us, actor them join remote_host h on h.id = them.host_id
       where us.type = 'Application' and us.host_id is null and h.host = $1 and them.type = 'Application'`,
      [host, { by, askedAt: 0, tries: 0 }],
    )
    return host
  }
}
