// Ids in the list of jobs, which contains rows of several tables: `17`, `delivery-17`, `inbox-17`; and `repeat:` for periodic tasks.

export type JobSource = 'job' | 'delivery' | 'inbox' | 'task'

export interface ListedJobId {
  source: JobSource
  /** Row id; 0 for a task, which has only a name. */
  id: number
  name?: string
}

export function readJobId(text: string): ListedJobId | undefined {
  const [, source = 'job', digits] = /^(?:(delivery|inbox)-)?(\d{1,15})$/.exec(text) ?? []
  if (digits !== undefined) return { source: source === 'delivery' || source === 'inbox' ? source : 'job', id: Number(digits) }
  const name = /^repeat:([\w-]{1,100})$/.exec(text)?.[1]
  return name === undefined ? undefined : { source: 'task', id: 0, name }
}

export const writeJobId = (source: JobSource, id: number, name: string): string =>
  source === 'job' ? String(id) : source === 'task' ? `repeat:${name}` : `${source}-${id}`
