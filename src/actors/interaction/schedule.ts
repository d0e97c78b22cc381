// Schedules a task that repeats in whole days: at a given hour and minute of local time, starting on a random day.

export interface RepeatSettings {
  /** In ms; rounded to whole days. A shorter interval ignores the hour. */
  interval: number
  hour: number
  minute: number
}

const DAY_MS = 86_400_000

/** Within the first interval from now. `draw` returns a random whole number below its argument. */
export function firstRun(now: Date, settings: RepeatSettings, draw: (below: number) => number): Date {
  if (settings.interval < DAY_MS) return new Date(now.getTime() + settings.interval)
  const start = atTimeOf(now, 0, settings) > now ? 0 : 1
  return atTimeOf(now, start + draw(daysOf(settings)), settings)
}

/** Whole intervals after the last run; missed ones are skipped. */
export function nextRun(last: Date, now: Date, settings: RepeatSettings): Date {
  if (settings.interval < DAY_MS) return new Date(Math.max(last.getTime() + settings.interval, now.getTime()))
  const days = daysOf(settings)
  const passed = Math.max(0, Math.floor((now.getTime() - last.getTime()) / (days * DAY_MS)))
  // A day with a clock change does not have 24 hours.
  const next = atTimeOf(last, days * Math.max(passed, 1), settings)
  return next > now ? next : atTimeOf(next, days, settings)
}

const daysOf = ({ interval }: RepeatSettings): number => Math.floor(interval / DAY_MS)

const atTimeOf = (day: Date, later: number, { hour, minute }: RepeatSettings): Date =>
  new Date(day.getFullYear(), day.getMonth(), day.getDate() + later, hour, minute)
