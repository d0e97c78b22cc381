// The account and folders of the embedded PostgreSQL: it refuses to run as root, so root runs it under another account.

import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, realpathSync, type Stats, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readText } from './embedded-postgres-process.ts'

/** The account of the server's processes; undefined means the current one. */
export interface Account {
  name: string
  uid: number
  gid: number
}

export interface Place {
  /** Vireo's folder: password, port, log and clients. */
  home: string
  /** The folder that PostgreSQL owns (`PGDATA`). */
  cluster: string
  /** Folder for a copy of the binaries if those in node_modules cannot be used. */
  shared: string
  account: Account | undefined
}

/** Contains the path of the alternative folder, if `dataDir` is unreachable for the account (for example under /root). */
const POINTER = 'location'
const ELSEWHERE = '/var/lib/vireo'

/** Chooses account and folders, and makes the folders. A pointer in `dataDir` records an earlier choice. */
export function choosePlace(dataDir: string, elsewhere: string = ELSEWHERE): Place {
  mkdirSync(dataDir, { recursive: true })
  const home = realpathSync(dataDir)
  const cluster = join(home, 'cluster')
  if (process.getuid?.() !== 0) {
    refuseForeignOwner(cluster)
    return { home, cluster, shared: home, account: undefined }
  }
  const pointed = readText(join(home, POINTER))?.trim()
  const account = ownerOf(pointed ? join(pointed, 'cluster') : cluster) ?? lentAccount()
  chmodSync(home, 0o711)
  if (!pointed && canReach(account, home)) return { home, cluster, shared: home, account }
  if (!pointed && statOf(cluster)) {
    throw new Error(`User ${account.name} cannot reach ${cluster}: give the folders above it the x permission for others`)
  }
  const outside = pointed ?? join(elsewhere, createHash('sha256').update(home).digest('hex').slice(0, 16))
  for (const folder of [dirname(outside), outside]) {
    if (statOf(folder)) continue
    mkdirSync(folder, { recursive: true })
    chmodSync(folder, 0o711)
  }
  if (!canReach(account, outside)) throw new Error(`User ${account.name} can reach neither ${home} nor ${outside}`)
  writeFileSync(join(home, POINTER), `${outside}\n`)
  writeFileSync(join(outside, 'owner'), `${home}\n`)
  return { home, cluster: join(outside, 'cluster'), shared: dirname(outside), account }
}

/** True if the account may traverse every folder down to `path`. */
export function canReach(account: Account, path: string): boolean {
  const stat = statOf(path)
  if (!stat || !mayPass(account, stat)) return false
  return path === '/' || canReach(account, dirname(path))
}

function mayPass(account: Account, stat: Stats): boolean {
  const bit = stat.uid === account.uid ? 0o100 : stat.gid === account.gid ? 0o010 : 0o001
  return (stat.mode & bit) !== 0
}

function lentAccount(): Account {
  return accountNamed('postgres') ?? accountNamed('nobody') ?? { name: 'nobody', uid: 65_534, gid: 65_534 }
}

function accountNamed(name: string): Account | undefined {
  const fields = accounts().find((line) => line[0] === name)
  return fields ? toAccount(fields) : undefined
}

/** The owner of an existing cluster, so that a start as root continues with a user's cluster. */
function ownerOf(cluster: string): Account | undefined {
  const stat = statOf(cluster)
  if (!stat || stat.uid === 0) return undefined
  const fields = accounts().find((line) => Number(line[2]) === stat.uid)
  return { name: fields?.[0] ?? String(stat.uid), uid: stat.uid, gid: stat.gid }
}

function accounts(): string[][] {
  return (readText('/etc/passwd') ?? '').split('\n').map((line) => line.split(':'))
}

function toAccount(fields: string[]): Account {
  return { name: fields[0] ?? '', uid: Number(fields[2]), gid: Number(fields[3]) }
}

function refuseForeignOwner(cluster: string): void {
  const stat = statOf(cluster)
  if (stat && stat.uid !== process.getuid?.()) {
    throw new Error(`The database in ${cluster} belongs to user ${stat.uid}: start as that user or as root`)
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}
