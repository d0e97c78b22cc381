// The instance itself: its Application actor and the OAuth client of the web interface, created on the first start.

import type { Columns } from '../../platform/database/index.ts'
import { randomToken } from '../../platform/ids.ts'
import { type GenerateKeys, generateActorKeys } from '../../platform/keys.ts'
import { createAccount } from '../account/account.writes.ts'
import { INSTANCE_ACTOR_NAME, insertLocalActor } from '../actor/index.ts'
import { type ActorDeps, DomainError } from '../runtime/index.ts'
import type { OauthClient } from './instance.entity.ts'

export type LocalClient = Columns<typeof OauthClient, 'clientId' | 'clientSecret'>

// Under one lock, so that two processes that start at once on an empty database create one instance.
const FIRST_START_LOCK = 'select pg_advisory_xact_lock(hashtext($1))'

export type Instance = ReturnType<typeof makeInstance>

export function makeInstance(deps: ActorDeps & { generateKeys?: GenerateKeys | undefined }) {
  const { db, tell, secrets, generateKeys = generateActorKeys } = deps
  let known: number | undefined

  async function findActor(): Promise<number | undefined> {
    const [row] = await db.query<{ id: number }>(
      "select id from actor where host_id is null and type = 'Application' and lower(preferred_username) = $1",
      [INSTANCE_ACTOR_NAME],
    )
    return row?.id
  }

  /** With another secret nothing could be signed, and no other server would accept anything: it is better not to start. */
  async function assertKeysOpen(): Promise<void> {
    const [actor] = await db.query<{ sealed: string | null }>(
      `select private_key_sealed as sealed from actor
       where host_id is null and type = 'Application' and lower(preferred_username) = $1`,
      [INSTANCE_ACTOR_NAME],
    )
    if (!actor?.sealed) return
    try {
      secrets.open(actor.sealed)
    } catch (cause) {
      throw new Error(
        'The keys in this database were sealed with another secret: restore the file secret.key of the data folder from the backup, or set secrets.peertube to the secret of this installation.',
        { cause },
      )
    }
  }

  async function findClient(): Promise<LocalClient | undefined> {
    const [row] = await db.query<LocalClient>('select client_id, client_secret from oauth_client order by id limit 1')
    return row
  }

  return {
    /**
     * Creates what is missing; safe for concurrent processes. Returns the client only if it was created now. Throws if the keys in the
     * database cannot be opened with this installation's secret.
     */
    async ensure(): Promise<{ newClient: LocalClient | undefined }> {
      await assertKeysOpen()
      if ((await findActor()) !== undefined && (await findClient())) return { newClient: undefined }
      const keys = await generateKeys()
      return await tell.create(async (unit) => {
        await unit.query(FIRST_START_LOCK, ['instance'])
        if ((await findActor()) === undefined) {
          const actorId = await insertLocalActor({
            ...deps,
            unit,
            keys,
            type: 'Application',
            name: INSTANCE_ACTOR_NAME,
          })
          createAccount(unit, { actorId, userId: null, name: INSTANCE_ACTOR_NAME })
        }
        if (await findClient()) return { newClient: undefined }
        const newClient = { client_id: randomToken(16), client_secret: randomToken(16) }
        await unit.query('insert into oauth_client (client_id, client_secret) values ($1, $2)', [
          newClient.client_id,
          newClient.client_secret,
        ])
        return { newClient }
      })
    },
    /** Throws `conflict` if no server was ever started on the database. */
    async assertStarted(): Promise<void> {
      await assertKeysOpen()
      if ((await findActor()) === undefined) {
        const advice = 'see whether it is the right one, and start the server once'
        throw new DomainError('conflict', `No server was ever started with this database: ${advice}.`)
      }
    },
    async localClient(): Promise<LocalClient> {
      const client = await findClient()
      if (!client) throw new Error('This instance has no OAuth client; start it once to make one.')
      return client
    },
    /** Row id of the Application actor. */
    async actorId(): Promise<number> {
      known ??= await findActor()
      if (known === undefined) throw new Error('This instance has no actor; start it once to make one.')
      return known
    },
  }
}
