// Limits the wait for a result.

/** Undefined after `ms`; the work continues, and its caller handles its failures. */
export async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  return await Promise.race([work, late]).finally(() => clearTimeout(timer))
}
