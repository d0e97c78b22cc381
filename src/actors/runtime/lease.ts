// Leases: who works on a row, and until when. The owner's name contains the machine, the process and its start, so that after a crash the
// leases of dead processes of this machine are released at once.

import { randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Database } from '../../platform/database/index.ts'
import { processIdentity } from '../../platform/process-identity.ts'

/** A name for one runtime: `machine|process|random`. */
export function leaseOwner(): string {
  return [machineName(), processIdentity(process.pid), randomBytes(4).toString('hex')].join('|')
}

/**
 * Identifies a process namespace. Containers on one host's network and clones of a virtual machine share a host name but not their
 * processes: so the boot of the kernel and the namespace of processes are part of it.
 */
export function machineName(): string {
  named ??= [
    hostname(),
    known(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    known(() => readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')),
  ].join('/')
  return named
}

let named: string | undefined

function known(read: () => string): string {
  try {
    return read()
  } catch {
    // Not every system has it.
    return ''
  }
}

/** True if the owner is known to be a dead process of this machine. */
export function isDeadHere(owner: string): boolean {
  const [machine, identity] = owner.split('|')
  if (machine !== machineName() || identity === undefined) return false
  return processIdentity(Number.parseInt(identity, 10)) !== identity
}

/** Releases the leases of dead processes of this machine; returns how many owners were dead. */
export async function releaseDeadLeases(db: Database): Promise<number> {
  const owners = await db.query<{ owner: string }>(
    `select distinct lease_owner as owner from job where state = 'active' and lease_owner is not null
     union select lease_owner from lane where lease_owner is not null`,
  )
  const dead = owners.map((row) => row.owner).filter(isDeadHere)
  if (dead.length === 0) return 0
  await db.query("update job set lease_until = '-infinity' where state = 'active' and lease_owner = any($1)", [dead])
  await db.query(
    'update lane set lease_until = null, lease_owner = null, dirty = true, due_at = coalesce(due_at, now()) where lease_owner = any($1)',
    [dead],
  )
  return dead.length
}

/**
 * Renews a lease every third of its time while `work` runs, and aborts the work if the lease is lost; then it throws LeaseLost, whatever
 * the work threw. `renew` returns false if another worker has the lease.
 */
export async function underLease<T>(options: {
  leaseMs: number
  renew: () => Promise<boolean>
  signals: AbortSignal[]
  work: (signal: AbortSignal) => Promise<T>
}): Promise<T> {
  const lost = new AbortController()
  let renewedAt = Date.now()
  const timer = setInterval(async () => {
    try {
      if (await options.renew()) renewedAt = Date.now()
      else lost.abort(new LeaseLost())
    } catch {
      // The database is unreachable: the work may go on until the lease expires.
      if (Date.now() - renewedAt > options.leaseMs) lost.abort(new LeaseLost())
    }
  }, options.leaseMs / 3)
  try {
    return await options.work(AbortSignal.any([lost.signal, ...options.signals]))
  } catch (error) {
    // Interrupted work fails with other errors.
    lost.signal.throwIfAborted()
    throw error
  } finally {
    clearInterval(timer)
  }
}

export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
  constructor() {
    super('The lease was lost or the job was cancelled.')
  }
}
