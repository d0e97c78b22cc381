import { describe, expect, it } from '@jest/globals'
import { loadConfig } from '../../../src/config/index.ts'

function load(env: Record<string, string>) {
  return loadConfig({ files: [], env, cwd: '/' })
}

describe('the database', () => {
  it.each([
    ['{ hostname: db }', 'postgres://peertube:peertube@db:5432/peertube_dev'],
    ['{ hostname: db, name: videos }', 'postgres://peertube:peertube@db:5432/videos'],
    ['{ suffix: _prod }', 'postgres://peertube:peertube@127.0.0.1:5432/peertube_prod'],
    ['{ hostname: "::1" }', 'postgres://peertube:peertube@[::1]:5432/peertube_dev'],
    ['{ hostname: null, port: null, socket: /var/run/postgresql }', 'postgres://peertube:peertube@%2Fvar%2Frun%2Fpostgresql/peertube_dev'],
    ['{ username: "a b", password: "p@/:%" }', 'postgres://a%20b:p%40%2F%3A%25@127.0.0.1:5432/peertube_dev'],
  ])('%s is %s', (section, url) => {
    expect(load({ VIREO__DATABASE: section }).database).toEqual({
      kind: 'server',
      url,
      poolMax: 5,
      ssl: false,
      verifyCertificate: false,
    })
  })

  it('is external when one variable names it', () => {
    expect(load({ VIREO__DATABASE__HOSTNAME: 'db' }).database).toMatchObject({ kind: 'server' })
  })

  it.each(['', '{}', '{ pool: { max: 7 } }', '{ name: null }'])('stays embedded with %j', (section) => {
    expect(load({ VIREO__DATABASE: section }).database.kind).toBe('embedded')
  })

  it('has the configured number of connections, embedded or external', () => {
    expect(load({ VIREO__DATABASE__POOL__MAX: '7' }).database).toEqual({ kind: 'embedded', poolMax: 7 })
    expect(load({ VIREO__DATABASE: '{ hostname: db, pool: { max: 7 } }' }).database).toMatchObject({ poolMax: 7 })
  })

  it.each([
    ['', false, false],
    ['?sslmode=disable', false, false],
    ['?sslmode=require', true, false],
    ['?sslmode=verify-full', true, true],
  ])('of DATABASE_URL%s: TLS %p, certificate checked %p', (query, ssl, verifyCertificate) => {
    const url = `postgresql://me:secret@db:5433/videos${query}`
    expect(load({ DATABASE_URL: url, VIREO__DATABASE__HOSTNAME: 'other' }).database).toEqual({
      kind: 'server',
      url,
      poolMax: 5,
      ssl,
      verifyCertificate,
    })
  })

  it.each(['mysql://me:hunter2@db/videos', 'db', 'postgres://me:hunter2@db'])('cannot be %s', (url) => {
    const refused = () => load({ DATABASE_URL: url })
    expect(refused).toThrow(/^DATABASE_URL is ".*", expected postgres:\/\/user:password@host:5432\/database$/)
    expect(refused).not.toThrow('hunter2')
  })
})

describe('Redis', () => {
  it.each([
    ['{ hostname: cache }', 'redis://cache:6379/0'],
    ['{ hostname: cache, auth: "a/b", db: 3 }', 'redis://:a%2Fb@cache:6379/3'],
    ['{ port: 6380 }', 'redis://127.0.0.1:6380/0'],
    ['{ socket: /run/redis.sock, auth: x, db: 1 }', '/run/redis.sock?db=1&password=x'],
  ])('%s is %s', (section, url) => {
    expect(load({ VIREO__REDIS: section }).redis).toEqual({ kind: 'url', url })
  })

  it.each(['', '{}', '{ auth: null }'])('is not used with %j', (section) => {
    expect(load({ VIREO__REDIS: section }).redis).toBeNull()
  })

  it('is found through sentinels', () => {
    const section =
      '{ auth: x, db: 1, sentinel: { enabled: true, enable_tls: true, master_name: m, sentinels: [{ hostname: a }, { hostname: b, port: 1 }] } }'
    expect(load({ VIREO__REDIS: section }).redis).toEqual({
      kind: 'sentinel',
      masterName: 'm',
      sentinels: [
        { host: 'a', port: 26_379 },
        { host: 'b', port: 1 },
      ],
      password: 'x',
      db: 1,
      tls: true,
    })
  })

  it('is that of REDIS_URL rather than of any section', () => {
    const loaded = load({ REDIS_URL: 'rediss://:x@cache:6390/2', VIREO__REDIS__HOSTNAME: 'other' })
    expect(loaded.redis).toEqual({ kind: 'url', url: 'rediss://:x@cache:6390/2' })
  })

  it.each(['cache:6379', 'http://cache', 'redis://'])('cannot be %s', (url) => {
    expect(() => load({ REDIS_URL: url })).toThrow(/^REDIS_URL is ".*", expected redis:\/\/:password@host:6379\/0$/)
  })
})
