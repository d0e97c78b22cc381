// What hides a comment: it waits for approval, or something above it does. A deleted one keeps its row as long as there are replies
// (Tombstone). SQL, which other nouns count with.

/** SQL: whether a comment waits for approval. One that was refused waits no more, though it was never shown. */
export const waits = (comment: string): string => `(${comment}.held_for_review and ${comment}.deleted_at is null)`

/** SQL: the answers to a comment, to be joined: looked up in the index, however many the planner expects. */
export const answersTo = (comment: string): string => `lateral (select r.id from comment r where r.parent_id = ${comment} offset 0)`

/** SQL: the ids of comments below a video that wait, and of all that answers those. The others count, and are told. */
export const waitingBelow = (video: string): string => `
  with recursive waiting as (
    select unnest(array(select w.id from comment w where w.video_id = ${video} and ${waits('w')})) as id
    union select answer.id from waiting, ${answersTo('waiting.id')} answer
  ) select id from waiting`
