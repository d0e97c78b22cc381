// The lock between processes.

import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { describe, expect, it } from '@jest/globals'
import { withProcessLock } from '../../../src/platform/mutex.ts'
import { latch } from '../../support/until.ts'

describe('the lock between processes', () => {
  it('admits one at a time, and is released after an error', async () => {
    const name = randomUUID()
    const steps: string[] = []
    const release = latch()
    const first = withProcessLock(name, 5_000, async () => {
      steps.push('first in')
      await release.opened
      steps.push('first out')
      throw new Error('no')
    })
    const second = withProcessLock(name, 5_000, async () => steps.push('second in'))
    release.open()
    await expect(first).rejects.toThrow('no')
    await second
    expect(steps).toEqual(['first in', 'first out', 'second in'])
  })

  it('does not block a lock of another name', async () => {
    const inner = () => withProcessLock(randomUUID(), 1_000, async () => 'in')
    expect(await withProcessLock(randomUUID(), 1_000, inner)).toBe('in')
  })

  it('fails after its timeout', async () => {
    const name = randomUUID()
    const blocked = () => withProcessLock(name, 60, async () => 'in')
    await expect(withProcessLock(name, 1_000, blocked)).rejects.toThrow(`has been holding ${name} for 60 ms`)
  })

  it('is released when its owner is killed', async () => {
    const name = randomUUID()
    const module = new URL('../../../src/platform/mutex.ts', import.meta.url).href
    const script = `import { withProcessLock } from ${JSON.stringify(module)}
      await withProcessLock('${name}', 1000, () => new Promise((r) => { console.log('held'); setTimeout(r, 60000) }))`
    const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(holder.stdout, 'data')
    await expect(withProcessLock(name, 60, async () => 'in')).rejects.toThrow('has been holding')
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    expect(await withProcessLock(name, 5_000, async () => 'in')).toBe('in')
  })
})
