"""What several commands share: options, corpora of trees, words of references, accuracies."""
