// Lazily computed values. The loads of lru-cache have keys, and it does not return one that is running without starting it.

export interface Memoized<T> {
  /** Returns the memoized value, computing it on the first call. A failure is not stored: the next call retries. */
  get(): Promise<T>
  /** The value, or the running computation; undefined after a failure, or before the first call. */
  made(): Promise<T | undefined>
}

export function memoize<T>(make: () => Promise<T>): Memoized<T> {
  let kept: Promise<T> | undefined
  return {
    get() {
      const making = kept ?? make()
      kept = making
      making.catch(() => {
        if (kept === making) kept = undefined
      })
      return making
    },
    made: async () => await kept?.catch(() => undefined),
  }
}
