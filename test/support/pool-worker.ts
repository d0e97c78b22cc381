// The worker thread of the tests of the worker pool: does what each task says.

import { threadId } from 'node:worker_threads'
import { serveTasks } from '../../src/platform/worker-thread.ts'

export type PoolTask = { answer: string } | { fail: string } | { computeForever: true } | { fillMemory: true }

serveTasks<PoolTask, string>(async (task) => {
  if ('fail' in task) throw new Error(task.fail)
  if ('computeForever' in task) for (;;) Math.random()
  if ('fillMemory' in task) for (const chunks: string[][] = []; ; ) chunks.push(Array(100_000).fill('x'))
  return `${task.answer} by ${threadId}`
})
