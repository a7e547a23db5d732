"""The human side as pure rules: item states, adjudication, gold."""
