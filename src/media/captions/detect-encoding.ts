// A worker thread that lists the encodings which a text may be in: the detector loads a model of tens of megabytes, and takes longer
// than the event loop may wait.

import { parentPort, workerData } from 'node:worker_threads'
import { detectAll } from 'jschardet'

export interface DetectionTask {
  sample: Uint8Array
  encodings: readonly string[]
}

export interface Guess {
  encoding: string
  /** 0 to 1. */
  confidence: number
}

const { sample, encodings } = workerData as DetectionTask
const guesses: Guess[] = detectAll(sample, { detectEncodings: [...encodings], minimumThreshold: 0 }).flatMap(({ encoding, confidence }) =>
  encoding === null ? [] : [{ encoding, confidence }],
)
parentPort?.postMessage(guesses)
