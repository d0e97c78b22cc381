// The thread side of a worker pool.

import { parentPort } from 'node:worker_threads'
import type { ThreadMessage } from './worker-pool.ts'

/** Runs the tasks of the pool that started this thread, one after another. */
export function serveTasks<Task, Result>(handle: (task: Task) => Promise<Result>): void {
  const port = parentPort
  if (!port) throw new Error('This module runs in a worker thread.')
  const send = (message: ThreadMessage<Result>): void => port.postMessage(message)
  port.on('message', (task: Task) => {
    handle(task).then(
      (result) => send({ result }),
      (error: unknown) => send({ error: String(error) }),
    )
  })
  send({ ready: true })
}
