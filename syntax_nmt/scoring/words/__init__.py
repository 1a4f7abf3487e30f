"""Words by bucket: which words a system finds, by relation, distance or frequency."""
