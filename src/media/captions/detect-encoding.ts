// A worker thread that lists the likely encodings of a text: the detector loads a model of tens of megabytes, and would block the event
// loop.

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
