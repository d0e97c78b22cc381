// The location and the account of the embedded PostgreSQL.

import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { canReach, choosePlace } from '../../../src/platform/embedded-postgres-place.ts'
import { parsePidFile } from '../../../src/platform/embedded-postgres-process.ts'

const isRoot = process.getuid?.() === 0

describe('the location of the embedded PostgreSQL', () => {
  let folder: string
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'vireo-place-')))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('is accessible to an account only if every parent folder is', () => {
    const stranger = { name: 'stranger', uid: 54_321, gid: 54_321 }
    const inner = join(folder, 'a', 'b')
    mkdirSync(inner, { recursive: true })
    chmodSync(folder, 0o711)
    expect(canReach(stranger, inner)).toBe(true)
    chmodSync(folder, 0o700)
    expect(canReach(stranger, inner)).toBe(false)
    const { uid, gid } = statSync(folder)
    expect(canReach({ name: 'owner', uid, gid }, inner)).toBe(true)
    chmodSync(folder, 0o710)
    expect(canReach({ name: 'of the group', uid: 54_321, gid }, inner)).toBe(true)
    expect(canReach(stranger, join(folder, 'missing'))).toBe(false)
  })

  it('is the data directory if the account can access it', () => {
    chmodSync(folder, 0o711)
    const place = choosePlace(join(folder, 'postgres'), join(folder, 'elsewhere'))
    expect(place.home).toBe(join(folder, 'postgres'))
    expect(place.cluster).toBe(join(folder, 'postgres', 'cluster'))
    expect(place.account === undefined).toBe(!isRoot)
    expect(existsSync(join(folder, 'elsewhere'))).toBe(false)
  })

  it('is elsewhere for root if the data directory is not accessible, and remains there by a pointer', () => {
    const closed = join(folder, 'closed')
    mkdirSync(closed, { mode: 0o700 })
    chmodSync(folder, 0o711)
    const place = choosePlace(join(closed, 'postgres'), join(folder, 'elsewhere'))
    expect(place.home).toBe(join(closed, 'postgres'))
    expect(place.cluster.startsWith(join(folder, 'elsewhere'))).toBe(isRoot)
    chmodSync(closed, 0o711)
    expect(choosePlace(join(closed, 'postgres'), join(folder, 'elsewhere'))).toEqual(place)
    if (!isRoot) return
    const pointer = readFileSync(join(closed, 'postgres', 'location'), 'utf8').trim()
    expect(place.cluster).toBe(join(pointer, 'cluster'))
    expect(readFileSync(join(pointer, 'owner'), 'utf8')).toBe(`${place.home}\n`)
  })
})

describe('a pid file of PostgreSQL', () => {
  it('contains process, port and status', () => {
    const text = '4711\n/data\n1700000000\n5433\n\n127.0.0.1\n  1234 5678\nready   \n'
    expect(parsePidFile(text)).toEqual({ pid: 4711, port: 5433, status: 'ready' })
  })

  it('is ignored while it is empty or being written', () => {
    expect(parsePidFile('')).toBeUndefined()
    expect(parsePidFile('\n')).toBeUndefined()
    expect(parsePidFile('4711\n/data\n')).toEqual({ pid: 4711, port: 0, status: '' })
  })
})
