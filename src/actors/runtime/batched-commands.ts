// Batches commands of one kind that arrive at about the same time: they share one transaction, in which each statement serves all of them.
// A command that cannot share it runs alone, so that no command waits for, or fails with, another one.

import { batched } from '../../platform/batched.ts'
import type { DomainError } from './domain-error.ts'
import type { Tell } from './tell.ts'
import type { Unit } from './unit.ts'

/** `alone`: the command left nothing in the transaction, and must be repeated in its own. */
export type Outcome<O> = { answer: O } | { refusal: DomainError } | 'alone'

/**
 * Makes the function that runs one command. `run` returns outcomes in the order of the commands. In a batch it must not wait for locked
 * rows (`skip locked`); with `isAlone` it may. If it throws, each command runs alone, all of them at once. A connection that is lost during
 * the commit may have stored the commands already, so running one twice must change nothing. Throws the refusal of the command, and what
 * `run` throws for it alone.
 */
export function makeBatchedCommands<I, O>(options: {
  tell: Pick<Tell, 'create'>
  run: (unit: Unit, commands: I[], how: { isAlone: boolean }) => Promise<Outcome<O>[]>
  /** Maximum commands per transaction. */
  max: number
}): (command: I) => Promise<O> {
  const { tell, run, max } = options
  const round = batched<I, Outcome<O>>(
    async (commands) => {
      try {
        return await tell.create((unit) => run(unit, commands, { isAlone: false }))
      } catch {
        return commands.map(() => 'alone')
      }
    },
    { max },
  )

  async function alone(command: I): Promise<Outcome<O> | undefined> {
    const [outcome] = await tell.create((unit) => run(unit, [command], { isAlone: true }))
    return outcome
  }

  return async (command) => {
    const first = await round(command)
    const outcome = first === 'alone' ? await alone(command) : first
    if (outcome === undefined || outcome === 'alone') throw new Error('A command that runs alone must have a result.')
    if ('refusal' in outcome) throw outcome.refusal
    return outcome.answer
  }
}
