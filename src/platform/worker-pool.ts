// Runs CPU-bound work outside the event loop, in a few threads that start on demand. A task that exceeds its deadline is terminated with
// its thread; the next task gets a new one.

import { Worker } from 'node:worker_threads'
import pLimit from 'p-limit'
import { compileCacheEnv } from './compile-cache.ts'

/**
 * `busy`: too many queued tasks, or the pool is closed. `unavailable`: no thread starts. `deadline`: it took too long. `failed`: the thread
 * threw or died.
 */
export class TaskError extends Error {
  readonly reason: 'busy' | 'unavailable' | 'deadline' | 'failed'
  constructor(reason: TaskError['reason'], options?: ErrorOptions) {
    super(`a task in a worker thread was not done: ${reason}`, options)
    this.reason = reason
  }
}

export type WorkerPool<Task, Result> = ReturnType<typeof makeWorkerPool<Task, Result>>

export interface WorkerPoolOptions {
  /** A module that calls `serveTasks`. */
  module: URL
  threads: number
  /** Per task, from the moment its thread is ready (ms). */
  deadlineMs: number
  /** Tasks that may wait for a thread. */
  maxWaiting: number
  /** A thread without a task for this long ends (ms): the modules of one take 20 MiB. */
  idleMs: number
  /** Heap of a thread (MiB): a task that needs more ends its thread, not the process. */
  maxHeapMiB: number
}

/** The messages of a thread: its modules are loaded, or the result of a task. */
export type ThreadMessage<Result> = { ready: true } | { result: Result } | { error: string }

/** Loading the modules of a thread takes a third of a second, and more on a busy machine. */
const STARTUP_MS = 30_000

export function makeWorkerPool<Task, Result>(options: WorkerPoolOptions) {
  const { threads, maxWaiting, idleMs } = options
  const inTurn = pLimit(threads)
  const alive = new Set<Worker>()
  const idle = new Map<Worker, NodeJS.Timeout>()
  let pending = 0
  let isClosed = false

  return {
    /** Throws TaskError. */
    async run(task: Task): Promise<Result> {
      if (isClosed || pending >= threads + maxWaiting) throw new TaskError('busy')
      pending += 1
      try {
        return await inTurn(() => runInThread(task))
      } finally {
        pending -= 1
      }
    },
    /** Refuses queued tasks, and terminates the threads. */
    async close() {
      isClosed = true
      await Promise.all([...alive].map((worker) => worker.terminate()))
    },
  }

  async function runInThread(task: Task): Promise<Result> {
    if (isClosed) throw new TaskError('busy')
    const worker = takeIdle() ?? (await start())
    try {
      const answer = answerOf<Result>(worker, options.deadlineMs)
      worker.postMessage(task)
      const message = await answer
      if ('result' in message) return message.result
      throw new TaskError('failed', { cause: 'error' in message ? message.error : 'unexpected message' })
    } finally {
      if (alive.has(worker)) idle.set(worker, setTimeout(() => endIdle(worker), idleMs).unref())
    }
  }

  function takeIdle(): Worker | undefined {
    // The latest: the others end when there is less to do.
    const found = [...idle].at(-1)
    if (!found) return undefined
    const [worker, timer] = found
    clearTimeout(timer)
    idle.delete(worker)
    return worker
  }

  function endIdle(worker: Worker): void {
    idle.delete(worker)
    void worker.terminate()
  }

  async function start(): Promise<Worker> {
    const worker = new Worker(options.module, {
      execArgv: [],
      env: compileCacheEnv(),
      resourceLimits: { maxOldGenerationSizeMb: options.maxHeapMiB },
    })
    alive.add(worker)
    worker.once('exit', () => {
      alive.delete(worker)
      clearTimeout(idle.get(worker))
      idle.delete(worker)
    })
    // A thread that dies while it is idle is replaced by the next task.
    worker.on('error', () => alive.delete(worker))
    await answerOf(worker, STARTUP_MS).catch((cause: TaskError) => {
      throw cause.reason === 'busy' ? cause : new TaskError('unavailable', { cause })
    })
    return worker
  }

  /** The next message of a thread. Idle threads do not keep the process alive. */
  async function answerOf<R>(worker: Worker, deadlineMs: number): Promise<ThreadMessage<R>> {
    const { promise, resolve, reject } = Promise.withResolvers<ThreadMessage<R>>()
    const onFailure = (cause?: unknown): void => {
      alive.delete(worker)
      reject(new TaskError(isClosed ? 'busy' : 'failed', { cause }))
    }
    const timer = setTimeout(() => {
      alive.delete(worker)
      reject(new TaskError('deadline'))
      void worker.terminate()
    }, deadlineMs)
    worker.ref()
    worker.once('message', resolve).once('error', onFailure).once('exit', onFailure)
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      worker.off('message', resolve).off('error', onFailure).off('exit', onFailure)
      worker.unref()
    }
  }
}
