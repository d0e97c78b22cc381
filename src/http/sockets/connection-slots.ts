// Limits of connections: in all, and per client.

export function makePlaces<Key>({ most = Infinity, mostOfOne }: { most?: number; mostOfOne: number }) {
  const taken = new Map<Key, number>()
  let all = 0
  return {
    /** True if one more is allowed. */
    hasPlace(key: Key) {
      return all < most && (taken.get(key) ?? 0) < mostOfOne
    },
    /** Takes a slot; returns the function that releases it, once. */
    take(key: Key): () => void {
      taken.set(key, (taken.get(key) ?? 0) + 1)
      all += 1
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        all -= 1
        const left = (taken.get(key) ?? 1) - 1
        if (left === 0) taken.delete(key)
        else taken.set(key, left)
      }
    },
  }
}
