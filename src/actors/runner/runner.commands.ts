// Remote runners: registration tokens, registration, contact, removal. Tokens are looked up by their hashes.

import { isUniqueViolation } from '../../platform/database/index.ts'
import { newUuid, sha256 } from '../../platform/ids.ts'
import { type ActorDeps, DomainError, notFound, RUNNER_JOBS_TOPIC, type Unit } from '../runtime/index.ts'

/** A runner, as its token identifies it. */
export interface KnownRunner {
  id: number
  name: string
  description: string | null
}

export interface Contact {
  ip: string
  /** Of the runner's program. */
  version?: string | undefined
}

export interface Runners {
  generateRegistrationToken(): Promise<void>
  /** Removes its runners too. Throws `not_found`. */
  removeRegistrationToken(id: number): Promise<void>
  /** Returns the token of the new runner, which is not readable afterwards. Throws `not_found`, and `invalid` for a taken name. */
  register(options: {
    registrationToken: string
    name: string
    description: string | null
    contact: Contact
  }): Promise<{ id: number; runnerToken: string }>
  /** The runner of this token, whose contact is noted. Throws `not_found` (`unknown_runner_token`). */
  identify(runnerToken: string, contact: Contact): Promise<KnownRunner>
  /** Its jobs wait for others. Throws `not_found`. */
  remove(id: number): Promise<void>
}

const REGISTRATION = 'ptrrt-'
const RUNNER = 'ptrt-'

export function makeRunners(deps: ActorDeps & { releaseJobs(unit: Unit, runnerId: number): Promise<void> }): Runners {
  const { db, tell, clock, secrets, config, releaseJobs } = deps

  async function removeFrom(unit: Unit, id: number): Promise<void> {
    await releaseJobs(unit, id)
    await unit.query('delete from runner where id = $1', [id])
    // Its connection is closed then, in whichever process.
    unit.publish(RUNNER_JOBS_TOPIC, {})
  }

  return {
    generateRegistrationToken: () =>
      tell.create(async (unit) => {
        const token = `${REGISTRATION}${newUuid()}`
        await unit.query(
          `insert into runner_registration_token (token_hash, token_sealed, created_at, updated_at) values ($1, $2, $3, $3)`,
          [sha256(token), secrets.seal(token), unit.now],
        )
      }),

    removeRegistrationToken: (id) =>
      tell.create(async (unit) => {
        const [token] = await unit.query('select id from runner_registration_token where id = $1 for update', [id])
        if (!token) throw notFound('Registration token not found')
        const runners = await unit.query<{ id: number }>('select id from runner where registration_token_id = $1', [id])
        for (const runner of runners) await removeFrom(unit, runner.id)
        await unit.query('delete from runner_registration_token where id = $1', [id])
      }),

    async register({ registrationToken, name, description, contact: { ip, version = null } }) {
      const runnerToken = `${RUNNER}${newUuid()}`
      try {
        return await tell.create(async (unit) => {
          const [registration] = await unit.query<{ id: number }>(
            'select id from runner_registration_token where token_hash = $1 for key share',
            [sha256(registrationToken)],
          )
          if (!registration) throw notFound('Registration token is invalid')
          const [runner] = await unit.query<{ id: number }>(
            `insert into runner (registration_token_id, name, description, token_hash, ip, version, last_contact, created_at, updated_at)
             values ($1, $2, $3, $4, $5, $6, $7, $7, $7) returning id`,
            [registration.id, name, description, sha256(runnerToken), ip, version, unit.now],
          )
          return { id: runner?.id ?? 0, runnerToken }
        })
      } catch (error) {
        if (isUniqueViolation(error)) throw new DomainError('invalid', 'This runner name already exists on this instance', { cause: error })
        throw error
      }
    },

    async identify(runnerToken, { ip, version = null }) {
      const [runner] = await db.query<KnownRunner & { contact: Date; ip: string; version: string | null }>(
        'select id, name, description, last_contact as contact, ip, version from runner where token_hash = $1',
        [sha256(runnerToken)],
      )
      if (!runner) throw notFound('Unknown runner token', 'unknown_runner_token')
      const isOld = clock.now().getTime() - runner.contact.getTime() >= config().vireo.runners.contact_update_interval
      if (isOld || runner.ip !== ip || (version !== null && runner.version !== version)) {
        await db.query('update runner set last_contact = $2, ip = $3, version = coalesce($4, version), updated_at = $2 where id = $1', [
          runner.id,
          clock.now(),
          ip,
          version,
        ])
      }
      return { id: runner.id, name: runner.name, description: runner.description }
    },

    remove: (id) =>
      tell.create(async (unit) => {
        const [runner] = await unit.query('select id from runner where id = $1 for update', [id])
        if (!runner) throw notFound('Runner not found')
        await removeFrom(unit, id)
      }),
  }
}
