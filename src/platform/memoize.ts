// What is made when it is first needed, and then kept.

export interface Memoized<T> {
  /** Makes it, or gives what was made. What could not be made is tried again by the next who asks. */
  get(): Promise<T>
  /** What was made, or is being made; undefined when nothing came of it, or nobody asked. */
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
