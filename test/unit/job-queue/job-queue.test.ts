// What the list of jobs calls our work, and what it does not show of it.

import { describe, expect, it } from '@jest/globals'
import { readJobId, writeJobId } from '../../../src/actors/job-queue/job-ids.ts'
import { JOB_NAMES, LANE_NAMES, refuseNameless, TASK_NAMES } from '../../../src/actors/job-queue/job-names.ts'
import { shownData } from '../../../src/actors/job-queue/shown.ts'
import { makeRegistry } from '../../../src/actors/runtime/registry.ts'
import { JOB_TYPE_NAMES } from '../../../src/config/index.ts'
import { REQUIRED } from '../../../src/required.ts'

describe('the names of work', () => {
  it('are those of the contract, one for each kind of job and lane that this build has', () => {
    expect(Object.keys(JOB_NAMES).toSorted()).toEqual([...REQUIRED.jobs].toSorted())
    expect(Object.keys(LANE_NAMES).toSorted()).toEqual([...REQUIRED.lanes].toSorted())
    for (const name of Object.values({ ...JOB_NAMES, ...LANE_NAMES, ...TASK_NAMES })) {
      expect(JOB_TYPE_NAMES).toContain(name)
    }
  })

  it('stay the own ones of what the contract knows by the same name', () => {
    for (const [own, name] of Object.entries(JOB_NAMES)) {
      if (JOB_TYPE_NAMES.some((known) => known === own)) expect(name).toBe(own)
    }
  })

  it('are asked for at the start', () => {
    const registry = makeRegistry()
    const run = async () => {}
    for (const name of Object.keys(TASK_NAMES)) registry.periodic(name, { everyMs: () => 1, run })
    expect(() => refuseNameless(registry)).not.toThrow()
    registry.job('new-work', { queue: 'io', run })
    expect(() => refuseNameless(registry)).toThrow('job new-work')
  })
})

describe('an id of the list', () => {
  it.each([
    ['17', 'job', 17],
    ['delivery-17', 'delivery', 17],
    ['inbox-17', 'inbox', 17],
  ] as const)('%s is read as it is written', (text, source, id) => {
    expect(readJobId(text)).toMatchObject({ source, id })
    expect(writeJobId(source, id, '')).toBe(text)
  })

  it('of a task has its name', () => {
    expect(readJobId('repeat:fold-views')).toEqual({ source: 'task', id: 0, name: 'fold-views' })
    expect(writeJobId('task', 0, 'fold-views')).toBe('repeat:fold-views')
  })

  it.each(['', '-1', 'job-1', 'delivery-', 'inbox-x', '1.5', '1'.repeat(16), 'repeat:', 'repeat:a b'])(
    'is not "%s"',
    (text) => expect(readJobId(text)).toBeUndefined(),
  )
})

it('what is shown of data keeps numbers and ids, and no secret', () => {
  expect(shownData({ videoId: 3, uri: 'https://a:b@x.example/?token=c', mail: 'reset-password' })).toEqual({
    ...{ videoId: 3, uri: 'https://[hidden]@x.example/?token=[hidden]', mail: 'reset-password' },
  })
})
