// A write to the table of another noun fails `npm run check`.

import { expect, it } from '@jest/globals'
import { foreignWrites, ownersOf } from '../../../scripts/check-owners.ts'

const entity = (name: string, table: string) => `defineEntity({\n  name: '${name}',\n  tableName: '${table}',\n})`
const owners = ownersOf(
  new Map([
    ['actors/video/video.entity.ts', entity('Video', 'video') + entity('VideoFile', 'video_file')],
    ['actors/follow/follow.entity.ts', entity('Follow', 'follow')],
    ['federation/kv.entity.ts', entity('Kv', 'kv')],
  ]),
)
const faultsOf = (text: string, file = 'actors/follow/a.ts') => foreignWrites(file, text, owners)

it('the folder of an entity owns its table', () => {
  expect([...owners.tables]).toEqual([
    ['video', 'actors/video'],
    ['video_file', 'actors/video'],
    ['follow', 'actors/follow'],
    ['kv', 'federation'],
  ])
})

it.each([
  ['video', "query('insert into video (id) values ($1)')"],
  ['video', 'query(`with a as (\n  update video v set x = 1) select 1`)'],
  ['video', 'query(`update only "video" set x = 1`)'],
  ['video_file', "query('delete from video_file where id = $1')"],
  ['video_file', "query('delete from video_file')"],
  ['video', "query('merge into video using a on true')"],
  ['video', "query('truncate follow, video')"],
  ['Video', 'unit.em.create(Video, { ...row })'],
  ['Video', 'unit.em.nativeUpdate(Video, id, { ...row })'],
  ['VideoFile', 'em.nativeDelete<X>(VideoFile, id)'],
  ['VideoFile', 'em.upsert(VideoFile, row)'],
  ['video', "defineLifecycle({\n  table: 'video',\n  machine,\n})"],
  ['video', "recountNext(query, { table: 'video', counts })"],
  ['video', "const TOTALS: MaintainedTotal = { table: 'video', key: [] }"],
])('a write to %s is refused elsewhere, and allowed for its owner: %s', (name, text) => {
  expect(faultsOf(text)).toEqual([
    expect.stringMatching(new RegExp(`^src/actors/follow/a.ts:[12] writes ${name}, which actors/video owns$`)),
  ])
  expect(faultsOf(text, 'actors/video/deep/a.ts').filter((fault) => !fault.includes('follow'))).toEqual([])
})

it('federation and http own no tables of nouns, nor nouns any of federation', () => {
  for (const file of ['federation/outbound/a.ts', 'http/a.ts']) expect(faultsOf("query('delete from video')", file)).toHaveLength(1)
  expect(faultsOf("query('delete from kv')")).toEqual(['src/actors/follow/a.ts:1 writes kv, which federation owns'])
})

it.each(['insert into', 'update', 'delete from', 'delete', 'truncate'])('a table that is only named by a value is refused: %s', (words) => {
  const text = `query(\`${words} \${table} where id = $1\`)`
  expect(faultsOf(text)).toEqual([expect.stringContaining('a table that only its values name')])
  expect(faultsOf(text, 'actors/runtime/a.ts')).toEqual([])
})

it.each([
  "query('select * from video for update')",
  "query('select * from video v for no key update of v skip locked')",
  "query('insert into follow (id) select id from video on conflict (id) do update set x = 1')",
  "query('delete from follow f using video v where v.id = f.id')",
  'unit.em.find(Video, id)',
  'makeVideo.create(videos)',
])('a read of another table is allowed: %s', (text) => {
  expect(faultsOf(text)).toEqual([])
})
