// Common parts of lifecycles whose work one worker at a time does under a lease, and whose worker may be lost.

export interface LeasedContext {
  /** How often a worker was lost. */
  lost: number
  /** Why it failed; null otherwise. */
  error: string | null
}

export interface LeasedSettings {
  /** How long a worker may be silent, in ms. */
  lease: number
  /** How often the sweeper ensures that there is a job, in ms. */
  check_owner_every: number
  /** Lost workers after which the work is given up. */
  max_lost: number
}

/** The lease has ended; `isReleased` if its worker gave it back, and its job waits. */
export interface LeaseOver<S extends LeasedSettings = LeasedSettings> {
  type: 'TIMED_OUT'
  settings: S
  isReleased?: boolean
}

interface Args {
  context: LeasedContext
  event: { type: string; settings?: LeasedSettings; isReleased?: boolean; error?: string }
}

const oneMore = ({ context }: Pick<Args, 'context'>): number => context.lost + 1

/** For the `setup` of a machine, under the same names: actions and guards. */
export const leasedWork = {
  noteError: { error: ({ context, event }: Args): string | null => event.error ?? context.error },
  countLoss: { lost: oneMore },
  giveUp: { lost: oneMore, error: 'The worker was lost too often' },
  /** Makes `dueIn`: the time in ms until waiting work is checked, or until its worker counts as lost. */
  dueIn:
    <State extends string>(waiting: State, ...working: State[]) =>
    (state: State, _context: LeasedContext, { check_owner_every, lease }: LeasedSettings): number | null =>
      state === waiting ? check_owner_every : working.includes(state) ? lease : null,
  guards: {
    released: ({ event }: Pick<Args, 'event'>): boolean => event.isReleased === true,
    lostTooOften: ({ context, event }: Args): boolean => event.settings !== undefined && context.lost + 1 >= event.settings.max_lost,
  },
}

/** The transitions of `TIMED_OUT` while a worker has it. */
export const workerLost = <W extends string, F extends string>(waiting: W, failed: F) =>
  [
    { guard: 'released', target: waiting, description: 'worker released the lease' },
    { guard: 'lostTooOften', target: failed, actions: 'giveUp', description: 'lost too often' },
    { target: waiting, actions: 'countLoss', description: 'worker lost' },
  ] as const
